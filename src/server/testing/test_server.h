// A server on a free loopback port with a fake engine behind it.
#pragma once
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "server/api/json_parse.h"
#include "server/server.h"
#include "server/testing/fake_engine.h"
#include "server/testing/raw_client.h"

namespace tempo9::server::testing {

class TestServer {
 public:
  explicit TestServer(const std::function<void(ServerOptions&, FakeEngine&)>& adjust = {}) {
    spdlog::default_logger_raw();  // made here, where it has happened before any thread of the server
    ServerOptions options;
    options.http.port = 0;
    options.http.threads = 2;
    options.handle_signals = false;
    if (adjust) adjust(options, engine);
    auto started = Server::start(engine, options);
    CHECK(started.has_value());
    server = *std::move(started);
  }

  int port() const { return server->port(); }
  Answer post(std::string_view path, const Json& body) const {
    return ask(port(), "POST", path, dump_json(body));
  }
  Answer chat(const Json& body) const { return post("/v1/chat/completions", body); }

  FakeEngine engine;
  std::unique_ptr<Server> server;
};

// The smallest chat request, and more members.
inline Json chat_body(const Json& more = Json::object()) {
  Json body = {{"model", "fake-model"}, {"messages", Json::array({{{"role", "user"}, {"content", "Hi"}}})}};
  body.update(more);
  return body;
}

// A template of a model that thinks unless it is told not to, and shows tools.
inline constexpr const char* kThinkingTemplate =
    "{% if tools %}<|system|>tools:{% for t in tools %} {{ t | tojson }}{% endfor %}<|end|>\n{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n"
    "</think>\n\n{% endif %}{{ m.content }}{% for c in m.tool_calls %}[{{ c.function.name }} "
    "{{ c.function.arguments | tojson }}]{% endfor %}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% if enable_thinking is defined and not enable_thinking %}"
    "<think>\n\n</think>\n\n{% else %}<think>\n{% endif %}{% endif %}";

inline void think(ServerOptions&, FakeEngine& engine) {
  engine.model().chat_template = kThinkingTemplate;
}

// The prompt of the engine's latest request, as text.
inline std::string last_prompt(const FakeEngine& fake) {
  const engine::Request latest = fake.requests().back();
  std::string text;
  for (const TokenId token : latest.prompt) text += fake.tokenizer().bytes(token, true);
  return text;
}

inline Json body_of(const Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  return parse_json(answer.body).value_or(Json());
}

// The events of a stream whose events have names: each name is the data's `type`.
inline std::vector<Json> named_events(const Answer& answer) {
  std::vector<Json> events;
  for (size_t at = 0; (at = answer.body.find("event: ", at)) != answer.body.npos;) {
    const size_t name_end = answer.body.find('\n', at), end = answer.body.find("\n\n", at);
    if (end == answer.body.npos) break;
    const std::string name = answer.body.substr(at + 7, name_end - at - 7);
    const std::string data = answer.body.substr(name_end + 1, end - name_end - 1);
    EXPECT_TRUE(data.starts_with("data: ")) << data;
    events.push_back(parse_json(data.substr(6)).value_or(Json()));
    EXPECT_EQ(events.back()["type"], name);
    at = end;
  }
  return events;
}

// Their types, repetitions once.
inline std::vector<std::string> types_of(const std::vector<Json>& events) {
  std::vector<std::string> types;
  for (const Json& event : events)
    if (types.empty() || event["type"] != types.back()) types.push_back(event["type"]);
  return types;
}

// Of an OpenAI error body.
inline Json error_of(const Answer& answer) {
  const auto body = parse_json(answer.body);
  return body && body->contains("error") ? (*body)["error"] : Json();
}

}  // namespace tempo9::server::testing
