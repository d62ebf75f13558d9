// Tool calls as Chat Completions has them.
#include <gtest/gtest.h>

#include "server/api/json_parse.h"
#include "server/api/openai_chat_reply.h"
#include "server/testing/played_reply.h"

namespace tempo9::server {
namespace {

using namespace testing;

std::vector<chat::Tool> declared_tools() {
  std::vector<chat::Tool> tools(3);
  tools[0].name = "get_weather";
  tools[1].name = "now";
  tools[2].name = "apply_patch";
  tools[2].kind = chat::Tool::Kind::kFreeform;
  return tools;
}

Answer answer(const std::vector<ChatDelta>& deltas, bool stream, size_t choices = 1) {
  return play(
      [&](auto response) {
        OpenAiReplyOptions options;
        options.request_id = "req_0123456789abcdef";
        options.model = "m";
        options.choices = choices;
        options.tools = CalledTools(declared_tools());
        options.stream = stream;
        return make_openai_chat_reply(std::move(options), std::move(response));
      },
      deltas);
}

Json whole(const std::vector<ChatDelta>& deltas, size_t choices = 1) {
  return *parse_json(answer(deltas, false, choices).body);
}

// What each chunk says, those of other choices left out, one line a chunk.
std::string chunks(const std::vector<ChatDelta>& deltas, size_t choices = 1, size_t shown = 0) {
  std::string lines;
  for (const std::string& event : answer(deltas, true, choices).events()) {
    if (event == "[DONE]") break;
    const Json choice = (*parse_json(event))["choices"][0];
    if (choice["index"] != shown) continue;
    lines += choice["delta"].dump();
    if (!choice["finish_reason"].is_null()) lines += " " + choice["finish_reason"].get<std::string>();
    lines += "\n";
  }
  return lines;
}

Json function_call(const std::string& id, const std::string& name, const std::string& arguments) {
  return {{"id", id}, {"type", "function"}, {"function", {{"name", name}, {"arguments", arguments}}}};
}

constexpr const char* kFirstId = "call_0123456789abcdef0000";
constexpr const char* kSecondId = "call_0123456789abcdef0001";

TEST(ChatCalls, StandInTheMessage) {
  const Json choice = whole(two_calls())["choices"][0];
  EXPECT_EQ(choice["message"]["content"], "Let me look.");
  EXPECT_EQ(choice["message"]["tool_calls"],
            Json::array({function_call(kFirstId, "get_weather", R"({"city": "Paris"})"),
                         function_call(kSecondId, "now", "{}")}));
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
}

TEST(ChatCalls, ComeInPieces) {
  EXPECT_EQ(chunks(two_calls()),
            R"({"role":"assistant","content":""}
{"content":"Let me "}
{"content":"look."}
{"tool_calls":[{"index":0,"id":"call_0123456789abcdef0000","type":"function","function":{"name":"get_weather","arguments":"{\"city\""}}]}
{"tool_calls":[{"index":0,"function":{"arguments":": \"Par"}}]}
{"tool_calls":[{"index":0,"function":{"arguments":"is\"}"}}]}
{"tool_calls":[{"index":1,"id":"call_0123456789abcdef0001","type":"function","function":{"name":"now","arguments":"{}"}}]}
{} tool_calls
)");
}

TEST(ChatCalls, NeedNoContent) {
  const Json choice = whole({calls({complete(0, "now", "{}")}), ends(StopReason::kCalls)})["choices"][0];
  EXPECT_TRUE(choice["message"]["content"].is_null());
  const Json text_only = whole({ends(StopReason::kEnd)})["choices"][0];
  EXPECT_EQ(text_only["message"]["content"], "");
  EXPECT_FALSE(text_only["message"].contains("tool_calls"));
  EXPECT_EQ(text_only["finish_reason"], "stop");
}

TEST(ChatCalls, OfSeveralChoicesHaveTheirOwnIds) {
  const std::vector<ChatDelta> deltas = {
      calls({begun(0, "now", "{")}, 0), calls({begun(0, "get_weather")}, 1), calls({last(0, "}")}, 0),
      ends(StopReason::kCalls, 0),      calls({last(0, "{}")}, 1),           ends(StopReason::kLength, 1)};
  const Json choices = whole(deltas, 2)["choices"];
  EXPECT_EQ(choices[0]["message"]["tool_calls"], Json::array({function_call(kFirstId, "now", "{}")}));
  EXPECT_EQ(choices[1]["message"]["tool_calls"],
            Json::array({function_call("call_0123456789abcdef0100", "get_weather", "{}")}));
  EXPECT_EQ(choices[0]["finish_reason"], "tool_calls");
  EXPECT_EQ(choices[1]["finish_reason"], "length");
  EXPECT_EQ(chunks(deltas, 2, 1),
            R"({"role":"assistant","content":""}
{"tool_calls":[{"index":0,"id":"call_0123456789abcdef0100","type":"function","function":{"name":"get_weather","arguments":""}}]}
{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}
{} length
)");
}

TEST(ChatCalls, OfFreeFormToolsAreText) {
  const std::vector<ChatDelta> deltas = {calls({begun(0, "apply_patch", R"({"input": "*** Begin Patch\)")}),
                                         calls({more(0, R"(n+a)")}), calls({last(0, R"(\"b\n"})")}),
                                         ends(StopReason::kCalls)};
  EXPECT_EQ(whole(deltas)["choices"][0]["message"]["tool_calls"],
            Json::array({{{"id", kFirstId},
                          {"type", "custom"},
                          {"custom", {{"name", "apply_patch"}, {"input", "*** Begin Patch\n+a\"b\n"}}}}}));
  EXPECT_EQ(chunks(deltas),
            R"({"role":"assistant","content":""}
{"tool_calls":[{"index":0,"id":"call_0123456789abcdef0000","type":"custom","custom":{"name":"apply_patch","input":"*** Begin Patch"}}]}
{"tool_calls":[{"index":0,"custom":{"input":"\n+a"}}]}
{"tool_calls":[{"index":0,"custom":{"input":"\"b\n"}}]}
{} tool_calls
)");
}

TEST(ChatCalls, ThatAreWithdrawnCannotBeExecuted) {
  const Json message = whole(one_withdrawn())["choices"][0]["message"];
  EXPECT_EQ(message["tool_calls"], Json::array({function_call(kSecondId, "now", "{}")}));
  EXPECT_EQ(message["content"], "<call get_weather Pa");
  std::string arguments;
  for (const std::string& event : answer(one_withdrawn(), true).events()) {
    if (event == "[DONE]") break;
    const Json delta = (*parse_json(event))["choices"][0]["delta"];
    if (delta.contains("tool_calls") && delta["tool_calls"][0]["index"] == 0)
      arguments += delta["tool_calls"][0]["function"]["arguments"];
  }
  EXPECT_EQ(arguments, R"({"city": "Pa)");
}

// Clients take empty arguments for those of a tool that needs none.
TEST(ChatCalls, ThatAreWithdrawnAtOnceHaveNoEmptyArguments) {
  EXPECT_EQ(chunks({calls({begun(0, "now"), withdrawn(0)}), says("<call now"), ends(StopReason::kEnd)}),
            R"({"role":"assistant","content":""}
{"tool_calls":[{"index":0,"id":"call_0123456789abcdef0000","type":"function","function":{"name":"now","arguments":""}}]}
{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}
{"content":"<call now"}
{} stop
)");
}

TEST(ChatCalls, OfUnknownToolsAreFunctions) {
  const Json message =
      whole({calls({complete(0, "who", R"({"a":1})")}), ends(StopReason::kCalls)})["choices"][0]["message"];
  EXPECT_EQ(message["tool_calls"], Json::array({function_call(kFirstId, "who", R"({"a":1})")}));
}

}  // namespace
}  // namespace tempo9::server
