// Tool calls as Anthropic's Messages has them.
#include <gtest/gtest.h>

#include "server/api/anthropic_reply.h"
#include "server/api/json_parse.h"
#include "server/api/tools.h"
#include "server/testing/played_reply.h"

namespace tempo9::server {
namespace {

using namespace testing;

Answer answer(const std::vector<ChatDelta>& deltas, bool stream, bool eager = false) {
  std::vector<chat::Tool> tools = {make_function("get_weather", "", Json()),
                                   make_function("now", "", Json())};
  for (chat::Tool& tool : tools) tool.eager = eager;
  return play(
      [&](auto response) {
        return make_anthropic_reply({"req_0123456789abcdef", "m", stream, false, CalledTools(tools)},
                                    std::move(response));
      },
      deltas);
}

// The events between the message's start and its last delta, one line each.
std::string events(const std::vector<ChatDelta>& deltas, bool eager = false) {
  std::string lines;
  for (const std::string& event : answer(deltas, true, eager).events()) {
    const Json data = *parse_json(event);
    const bool of_block = data["type"].get<std::string>().starts_with("content_block");
    if (of_block) lines += event + "\n";
    if (data["type"] == "message_delta") lines += data["delta"]["stop_reason"].get<std::string>() + "\n";
  }
  return lines;
}

Json tool_use(const std::string& id, const std::string& name, const Json& input) {
  return {{"type", "tool_use"}, {"id", id}, {"name", name}, {"input", input}};
}

constexpr const char* kFirstId = "toolu_0123456789abcdef0000";
constexpr const char* kSecondId = "toolu_0123456789abcdef0001";

TEST(AnthropicCalls, AreBlocks) {
  const Json message = *parse_json(answer(two_calls(), false).body);
  EXPECT_EQ(message["content"], Json::array({{{"type", "text"}, {"text", "Let me look."}},
                                             tool_use(kFirstId, "get_weather", {{"city", "Paris"}}),
                                             tool_use(kSecondId, "now", Json::object())}));
  EXPECT_EQ(message["stop_reason"], "tool_use");
  EXPECT_TRUE(message["stop_sequence"].is_null());
}

TEST(AnthropicCalls, ComeInPieces) {
  EXPECT_EQ(events(two_calls()),
            R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me "}}
{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"look."}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_0123456789abcdef0000","name":"get_weather","input":{}}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\""}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":": \"Par"}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"is\"}"}}
{"type":"content_block_stop","index":1}
{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_0123456789abcdef0001","name":"now","input":{}}}
{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}
{"type":"content_block_stop","index":2}
tool_use
)");
}

TEST(AnthropicCalls, StandBehindTheThinking) {
  const std::vector<ChatDelta> deltas = {thinks("hm"), calls({complete(0, "now", "{}")}),
                                         ends(StopReason::kLength)};
  const Json message = *parse_json(answer(deltas, false).body);
  ASSERT_EQ(message["content"].size(), 2u);
  EXPECT_EQ(message["content"][0]["type"], "thinking");
  EXPECT_EQ(message["content"][1], tool_use(kFirstId, "now", Json::object()));
  EXPECT_EQ(message["stop_reason"], "max_tokens");
}

TEST(AnthropicCalls, ThatAreWithdrawnCannotBeExecuted) {
  const Json message = *parse_json(answer(one_withdrawn(), false).body);
  EXPECT_EQ(message["content"], Json::array({{{"type", "text"}, {"text", "<call get_weather Pa"}},
                                             tool_use(kSecondId, "now", Json::object())}));
  const std::string streamed = events(one_withdrawn());
  EXPECT_TRUE(streamed.starts_with(
      R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}
)")) << streamed;
  EXPECT_EQ(streamed.find("get_weather\",\"input"), std::string::npos) << streamed;
  EXPECT_NE(streamed.find("\"index\":1,\"content_block\":{\"type\":\"tool_use\""), std::string::npos)
      << streamed;
}

// Clients would take a block without input for a call of a tool that needs none.
TEST(AnthropicCalls, ThatAreWithdrawnAtOnceNeverBegin) {
  EXPECT_EQ(events({calls({begun(0, "now"), withdrawn(0)}), ends(StopReason::kEnd)}), "end_turn\n");
}

TEST(AnthropicCalls, ComeAsTheyAreWrittenToClientsThatAskForIt) {
  EXPECT_EQ(events(two_calls(), true), events(two_calls()));
  EXPECT_EQ(
      events({calls({begun(0, "now"), withdrawn(0)}), ends(StopReason::kEnd)}, true),
      R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_0123456789abcdef0000","name":"now","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}
{"type":"content_block_stop","index":0}
end_turn
)");
  const std::string streamed = events(one_withdrawn(), true);
  EXPECT_NE(streamed.find(R"("partial_json":"{\"city\": \"Pa"}})"), std::string::npos) << streamed;
}

}  // namespace
}  // namespace tempo9::server
