// Tool calls as Responses has them.
#include <gtest/gtest.h>

#include "server/api/json_parse.h"
#include "server/api/responses_reply.h"
#include "server/testing/played_reply.h"

namespace tempo9::server {
namespace {

using namespace testing;

std::vector<chat::Tool> declared_tools() {
  std::vector<chat::Tool> tools(4);
  tools[0].name = "get_weather";
  tools[1].name = "apply_patch";
  tools[1].kind = chat::Tool::Kind::kFreeform;
  tools[2].name = "agents__spawn";
  tools[2].name_space = "agents";
  tools[2].own_name = "spawn";
  tools[3].name = "tool_search";
  tools[3].kind = chat::Tool::Kind::kToolSearch;
  return tools;
}

struct Played {
  Answer answer;
  Json kept;
};

Played played(const std::vector<ChatDelta>& deltas, bool stream) {
  Played result;
  const auto make = [&](auto response) {
    ResponsesReplyOptions options;
    options.request_id = "req_0123456789abcdef";
    options.tools = CalledTools(declared_tools());
    options.frame = {{"id", "resp_1"}, {"status", "queued"}, {"output", Json::array()}};
    options.stream = stream;
    options.keep = [&](const Json& response_body) { result.kept = response_body; };
    return make_responses_reply(std::move(options), std::move(response));
  };
  result.answer = play(make, deltas);
  return result;
}

Json whole(const std::vector<ChatDelta>& deltas) {
  return *parse_json(played(deltas, false).answer.body);
}

// The events between the response's start and its end, numbered as they should be, one line each; how the
// output ends.
std::string events(const std::vector<ChatDelta>& deltas, Json& output) {
  std::string lines;
  int number = 0;
  for (const std::string& event : played(deltas, true).answer.events()) {
    Json data = *parse_json(event);
    EXPECT_EQ(data["sequence_number"], number++);
    if (data.contains("response")) {
      output = data["response"]["output"];
      continue;
    }
    data.erase("sequence_number");
    lines += data.dump() + "\n";
  }
  return lines;
}

Json function_call(int item, int call, const std::string& name, const std::string& arguments) {
  return {{"id", fmt::format("fc_0123456789abcdef{}", item)},
          {"type", "function_call"},
          {"status", "completed"},
          {"call_id", fmt::format("call_0123456789abcdef00{:02}", call)},
          {"name", name},
          {"arguments", arguments}};
}

TEST(ResponsesCalls, AreItems) {
  const Json response = whole(two_calls());
  EXPECT_EQ(response["status"], "completed");
  ASSERT_EQ(response["output"].size(), 3u);
  EXPECT_EQ(response["output"][0]["content"][0]["text"], "Let me look.");
  EXPECT_EQ(response["output"][0]["status"], "completed");
  EXPECT_EQ(response["output"][1], function_call(1, 0, "get_weather", R"({"city": "Paris"})"));
  EXPECT_EQ(response["output"][2], function_call(2, 1, "now", "{}"));
}

TEST(ResponsesCalls, ComeInPieces) {
  Json output;
  const std::string streamed = events({calls({begun(0, "get_weather")}), calls({more(0, "{\"city\"")}),
                                       calls({last(0, ":\"Paris\"}")}), ends(StopReason::kCalls)},
                                      output);
  EXPECT_EQ(
      streamed,
      R"({"type":"response.output_item.added","output_index":0,"item":{"id":"fc_0123456789abcdef0","type":"function_call","status":"in_progress","call_id":"call_0123456789abcdef0000","name":"get_weather","arguments":""}}
{"type":"response.function_call_arguments.delta","item_id":"fc_0123456789abcdef0","output_index":0,"delta":"{\"city\""}
{"type":"response.function_call_arguments.delta","item_id":"fc_0123456789abcdef0","output_index":0,"delta":":\"Paris\"}"}
{"type":"response.function_call_arguments.done","item_id":"fc_0123456789abcdef0","output_index":0,"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}
{"type":"response.output_item.done","output_index":0,"item":{"id":"fc_0123456789abcdef0","type":"function_call","status":"completed","call_id":"call_0123456789abcdef0000","name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}
)");
  EXPECT_EQ(output, Json::array({function_call(0, 0, "get_weather", R"({"city":"Paris"})")}));
}

TEST(ResponsesCalls, EndTheMessageBeforeThem) {
  Json output;
  const std::string streamed = events(two_calls(), output);
  EXPECT_EQ(output, whole(two_calls())["output"]);
  const size_t message_done = streamed.find(R"({"type":"response.output_item.done","output_index":0)");
  const size_t call_added = streamed.find(R"({"type":"response.output_item.added","output_index":1)");
  ASSERT_NE(message_done, streamed.npos);
  ASSERT_NE(call_added, streamed.npos);
  EXPECT_LT(message_done, call_added);
}

TEST(ResponsesCalls, OfFreeFormToolsAreText) {
  const std::vector<ChatDelta> deltas = {calls({begun(0, "apply_patch", R"({"input":"*** Begin\)")}),
                                         calls({last(0, R"(n+a"})")}), ends(StopReason::kCalls)};
  Json output;
  EXPECT_EQ(
      events(deltas, output),
      R"({"type":"response.output_item.added","output_index":0,"item":{"id":"ctc_0123456789abcdef0","type":"custom_tool_call","status":"in_progress","call_id":"call_0123456789abcdef0000","name":"apply_patch","input":""}}
{"type":"response.custom_tool_call_input.delta","item_id":"ctc_0123456789abcdef0","output_index":0,"delta":"*** Begin"}
{"type":"response.custom_tool_call_input.delta","item_id":"ctc_0123456789abcdef0","output_index":0,"delta":"\n+a"}
{"type":"response.custom_tool_call_input.done","item_id":"ctc_0123456789abcdef0","output_index":0,"name":"apply_patch","input":"*** Begin\n+a"}
{"type":"response.output_item.done","output_index":0,"item":{"id":"ctc_0123456789abcdef0","type":"custom_tool_call","status":"completed","call_id":"call_0123456789abcdef0000","name":"apply_patch","input":"*** Begin\n+a"}}
)");
  EXPECT_EQ(output, whole(deltas)["output"]);
}

TEST(ResponsesCalls, IntoNamespacesHaveBothNames) {
  const Json output =
      whole({calls({complete(0, "agents__spawn", "{}")}), ends(StopReason::kCalls)})["output"];
  ASSERT_EQ(output.size(), 1u);
  EXPECT_EQ(output[0]["name"], "spawn");
  EXPECT_EQ(output[0]["namespace"], "agents");
  EXPECT_EQ(output[0]["type"], "function_call");
}

TEST(ResponsesCalls, OfTheSearchHaveAnObject) {
  const std::vector<ChatDelta> deltas = {calls({begun(0, "tool_search", R"({"query":)")}),
                                         calls({last(0, R"("files"})")}), ends(StopReason::kCalls)};
  Json output;
  EXPECT_EQ(
      events(deltas, output),
      R"({"type":"response.output_item.added","output_index":0,"item":{"id":"tsc_0123456789abcdef0","type":"tool_search_call","status":"in_progress","call_id":"call_0123456789abcdef0000","execution":"client","arguments":{}}}
{"type":"response.output_item.done","output_index":0,"item":{"id":"tsc_0123456789abcdef0","type":"tool_search_call","status":"completed","call_id":"call_0123456789abcdef0000","execution":"client","arguments":{"query":"files"}}}
)");
  EXPECT_EQ(output, whole(deltas)["output"]);
}

TEST(ResponsesCalls, ThatAreWithdrawnAreIncomplete) {
  const Json output = whole(one_withdrawn())["output"];
  ASSERT_EQ(output.size(), 2u);
  EXPECT_EQ(output[0]["content"][0]["text"], "<call get_weather Pa");
  EXPECT_EQ(output[1], function_call(1, 1, "now", "{}"));

  Json streamed;
  const std::string lines = events(one_withdrawn(), streamed);
  EXPECT_EQ(lines.find("response.function_call_arguments.done"),
            lines.find(R"(response.function_call_arguments.done","item_id":"fc_0123456789abcdef2")"))
      << lines;
  ASSERT_EQ(streamed.size(), 3u);
  Json cut = function_call(0, 0, "get_weather", R"({"city": "Pa)");
  cut["status"] = "incomplete";
  EXPECT_EQ(streamed[0], cut);
  // Who comes back to it finds what really was in it.
  const Json kept = played(one_withdrawn(), true).kept["output"];
  EXPECT_EQ(kept, Json::array({streamed[1], streamed[2]}));
}

// Half a patch looks like a whole one, and some clients execute every item that is done.
TEST(ResponsesCalls, ThatAreWithdrawnHandNoInputOver) {
  Json output;
  events({calls({begun(0, "apply_patch", R"({"input":"*** Begin)")}), calls({withdrawn(0)}), says("<call"),
          ends(StopReason::kLength)},
         output);
  ASSERT_EQ(output.size(), 2u);
  EXPECT_EQ(output[0]["status"], "incomplete");
  EXPECT_EQ(output[0]["input"], "");
  EXPECT_EQ(output[1]["content"][0]["text"], "<call");
}

TEST(ResponsesCalls, ThatAreCompleteStayWhereTheLengthCuts) {
  const Json response = whole({calls({complete(0, "now", "{}")}), says("and"), ends(StopReason::kLength)});
  EXPECT_EQ(response["status"], "incomplete");
  ASSERT_EQ(response["output"].size(), 2u);
  EXPECT_EQ(response["output"][0]["status"], "completed");
  EXPECT_EQ(response["output"][1]["status"], "incomplete");
}

}  // namespace
}  // namespace tempo9::server
