// A server on a free loopback port with a fake engine behind it.
#pragma once
#include <spdlog/spdlog.h>

#include <functional>
#include <memory>

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

// Of an OpenAI error body.
inline Json error_of(const Answer& answer) {
  const auto body = parse_json(answer.body);
  return body && body->contains("error") ? (*body)["error"] : Json();
}

}  // namespace tempo9::server::testing
