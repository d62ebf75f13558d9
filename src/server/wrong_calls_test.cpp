// Replies with calls that are none: their text reaches the client as the model wrote it, and is counted.
#include <gtest/gtest.h>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;

constexpr const char* kHermesTemplate =
    "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for m in messages %}<|{{ m.role }}|>{{ "
    "m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n{{ c.function | tojson }}\n</tool_call>{% endfor %}<|end|>"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

constexpr const char* kHarmonyTemplate =
    "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for m in messages %}<|start|>{{ m.role "
    "}}<|message|>"
    "{{ m.content }}{% for c in m.tool_calls or [] %} to=functions.{{ c.function.name "
    "}}<|channel|>commentary "
    "json<|message|>{{ c.function.arguments | tojson }}{% endfor %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}";

auto using_template(const char* source) {
  return [source](ServerOptions&, FakeEngine& engine) { engine.model().chat_template = source; };
}

Json with_tool(Json more = Json::object()) {
  more["tools"] = Json::array({{{"type", "function"}, {"function", {{"name", "stop"}}}}});
  return chat_body(more);
}

std::string content_of(const Answer& answer) {
  return body_of(answer)["choices"][0]["message"]["content"];
}

std::string streamed_content(const Answer& answer) {
  std::string content;
  for (const std::string& event : answer.events()) {
    if (event == "[DONE]") continue;
    const Json chunk = *parse_json(event);
    for (const Json& choice : chunk["choices"]) content += choice["delta"].value("content", "");
  }
  return content;
}

double counted(const TestServer& server, std::string_view reason) {
  const Json status = body_of(ask(server.port(), "GET", "/v1/status"));
  return status["faulty_tool_calls_total"][std::string(reason)];
}

TEST(WrongCalls, AreTextAndCounted) {
  TestServer server(using_template(kHermesTemplate));
  const std::string undeclared = "<tool_call>{\"name\": \"erase\", \"arguments\": {}}</tool_call>";
  server.engine.say(undeclared);
  EXPECT_EQ(content_of(server.chat(with_tool())), undeclared);
  EXPECT_EQ(streamed_content(server.chat(with_tool({{"stream", true}}))), undeclared);
  EXPECT_EQ(counted(server, "undeclared"), 2);
  const std::string unclosed = "So: <tool_call>{\"name\": \"stop\", \"arguments\": {";
  server.engine.say(unclosed);
  EXPECT_EQ(content_of(server.chat(with_tool())), unclosed);
  EXPECT_EQ(counted(server, "unclosed"), 1);
  EXPECT_NE(ask(server.port(), "GET", "/metrics")
                .body.find("tempo9_faulty_tool_calls_total{reason=\"undeclared\"} 2\n"),
            std::string::npos);
}

TEST(WrongCalls, NothingIsACallWhereNoneIsWanted) {
  TestServer server(using_template(kHermesTemplate));
  const std::string call = "<tool_call>{\"name\": \"stop\", \"arguments\": {}}</tool_call>";
  server.engine.say(call);
  EXPECT_EQ(content_of(server.chat(chat_body())), call);
  EXPECT_EQ(content_of(server.chat(with_tool({{"tool_choice", "none"}}))), call);
  EXPECT_EQ(streamed_content(server.chat(chat_body({{"stream", true}}))), call);
  EXPECT_EQ(counted(server, "undeclared"), 0);
}

TEST(WrongCalls, ChannelsAreReadWithoutTools) {
  TestServer server(using_template(kHarmonyTemplate));
  server.engine.say(
      "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.");
  const Json message = body_of(server.chat(chat_body()))["choices"][0]["message"];
  EXPECT_EQ(message["content"], "Yes.");
  EXPECT_EQ(message["reasoning_content"], "hm");
  server.engine.say("No markup at all.");
  EXPECT_EQ(content_of(server.chat(chat_body())), "No markup at all.");
  EXPECT_EQ(streamed_content(server.chat(chat_body({{"stream", true}}))), "No markup at all.");
}

}  // namespace
}  // namespace tempo9::server
