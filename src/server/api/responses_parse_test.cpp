// Bodies of OpenAI's Responses to ApiRequest.
#include "server/api/responses_request.h"

#include "server/testing/parsed_request.h"

namespace tempo9::server {
namespace {

using testing::conversation;
using testing::show;
using testing::show_tools;

ApiRequest accepted(const std::string& body) {
  return testing::accepted(parse_openai_responses, body);
}
// A request with the smallest conversation and these members; one of these items.
std::string with(const std::string& members) {
  return R"({"input":"Hi",)" + members + "}";
}
std::string input(const std::string& items) {
  return R"({"input":[)" + items + "]}";
}

TEST(OpenAiResponses, ReadsEveryOption) {
  const ApiRequest request = accepted(with(R"("model":"m","instructions":"be brief","max_output_tokens":7,
      "stream":true,"temperature":0.5,"top_p":0.9,"parallel_tool_calls":false,"store":false,
      "include":["reasoning.encrypted_content"],"prompt_cache_key":"k","client_metadata":{"turn_id":"t"},
      "reasoning":{"effort":"high","summary":"auto"},"text":{"verbosity":"low","format":{"type":"text"}},
      "tool_choice":"auto","previous_response_id":null,"top_logprobs":2,"brand_new":1)"));
  EXPECT_EQ(request.model, "m");
  EXPECT_EQ(request.max_new_tokens, 7);
  EXPECT_TRUE(request.stream);
  EXPECT_EQ(request.sampling.temperature, 0.5f);
  EXPECT_EQ(request.sampling.top_logprobs, 2);
  EXPECT_FALSE(request.parallel_tool_calls);
  EXPECT_EQ(conversation(request).reasoning_effort, "high");
  EXPECT_EQ(show(request), "system 'be brief'\nuser 'Hi'\n");
  EXPECT_EQ(request.unknown_fields, (std::vector<std::string>{"brand_new"}));
  EXPECT_FALSE(request.gap);
}

TEST(OpenAiResponses, AnEmptyTextIsAMessage) {
  EXPECT_EQ(show(accepted(R"({"model":"m","input":"","max_output_tokens":1})")), "user ''\n");
}

TEST(OpenAiResponses, ReadsItemsOfEveryKind) {
  EXPECT_EQ(show(accepted(input(R"(
      {"type":"message","id":"m1","role":"developer","content":[{"type":"input_text","text":"a"},
                                                                {"type":"input_text","text":"b"}]},
      {"role":"developer","content":"c"},
      {"role":"user","content":[{"type":"input_text","text":"d"}]},
      {"type":"reasoning","id":"r1","summary":[{"type":"summary_text","text":"s"},{"type":"summary_text","text":"t"}],
       "content":null,"encrypted_content":"x"},
      {"type":"function_call","id":"f1","status":"completed","call_id":"c1","name":"f","arguments":"{\"z\":1,\"a\":2}"},
      {"type":"function_call","call_id":"c2","name":"g","namespace":"ns","arguments":""},
      {"type":"custom_tool_call","call_id":"c3","name":"p","input":"*** Begin"},
      {"type":"function_call_output","id":"o1","call_id":"c1","output":"r"},
      {"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"x"},{"type":"input_text","text":"y"}]},
      {"type":"custom_tool_call_output","call_id":"c3","output":"done"},
      {"type":"message","id":"m2","role":"assistant","status":"completed",
       "content":[{"type":"output_text","text":"e","annotations":[],"logprobs":[]}]},
      {"role":"user","content":"f"})"))),
            "developer 'a' 'b'\n"
            "developer 'c'\n"
            "user 'd'\n"
            "assistant reasoning 's\n\nt' call c1 f{\"z\":1,\"a\":2} call c2 ns__g\"\" call c3 "
            "p{\"input\":\"*** Begin\"}\n"
            "tool 'r' for c1\n"
            "tool 'x' 'y' for c2\n"
            "tool 'done' for c3\n"
            "assistant 'e'\n"
            "user 'f'\n");
}

TEST(OpenAiResponses, NeighbouringItemsOfTheModelAreOneTurn) {
  const std::string text = R"({"type":"message","role":"assistant","content":"t"})";
  const std::string call = R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})";
  const std::string thought =
      R"({"type":"reasoning","content":[{"type":"reasoning_text","text":"h"}],"summary":[]})";
  const auto shown = [](const std::vector<std::string>& items) {
    std::string list;
    for (const std::string& item : items) list += (list.empty() ? "" : ",") + item;
    return show(accepted(input(list)));
  };
  EXPECT_EQ(shown({thought, text, call, call}), "assistant 't' reasoning 'h' call c f{} call c f{}\n");
  EXPECT_EQ(shown({text, text, call}), "assistant 't'\nassistant 't' call c f{}\n");
  EXPECT_EQ(shown({call, text}), "assistant 't' call c f{}\n");
  EXPECT_EQ(shown({thought, thought, call, text, text}), "assistant 't' 't' reasoning 'h\nh' call c f{}\n");
  EXPECT_EQ(shown({R"({"type":"reasoning","summary":[]})", R"({"role":"user","content":"q"})"}),
            "user 'q'\n");
}

TEST(OpenAiResponses, TheAttributionLineIsTakenOutOfTheInstructionsAlone) {
  const std::string line = "x-anthropic-billing-header: cch=AAAAA;";
  EXPECT_EQ(show(accepted(with(R"("instructions":")" + line + R"(\nrules")"))),
            "system 'rules'\nuser 'Hi'\n");
  EXPECT_EQ(show(accepted(R"({"input":")" + line + "\"}")), "user '" + line + "'\n");
}

TEST(OpenAiResponses, ReadsToolsOfEveryKind) {
  const ApiRequest request = accepted(with(R"("tools":[
      {"type":"function","name":"f","strict":false,"parameters":{"z":1,"a":2},"description":"does f"},
      {"type":"namespace","name":"ns","description":"several","tools":[
        {"type":"function","name":"g","strict":true,"parameters":null},
        {"type":"custom","name":"h"}]},
      {"type":"custom","name":"p","format":{"type":"text"}},
      {"type":"tool_search","execution":"client","description":"finds","parameters":{"type":"object"}},
      {"type":"function","name":"later","defer_loading":true},
      {"type":"tool_search","execution":"server"},
      {"type":"web_search","external_web_access":true}],
      "tool_choice":{"type":"function","name":"g","namespace":"ns"})"));
  const std::string one_string =
      R"(,"parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}})";
  EXPECT_EQ(
      show_tools(request),
      R"({"type":"function","function":{"name":"f","description":"does f","parameters":{"z":1,"a":2}}})"
      "\n"
      R"({"type":"function","function":{"name":"ns__g"}} ns/g strict)"
      "\n"
      R"({"type":"function","function":{"name":"ns__h")" +
          one_string +
          " ns/h free-form\n"
          R"({"type":"function","function":{"name":"p")" +
          one_string +
          " free-form\n"
          R"({"type":"function","function":{"name":"tool_search","description":"finds","parameters":{"type":"object"}}})"
          " search\n"
          R"({"type":"function","function":{"name":"later"}} deferred)"
          "\n");
  EXPECT_EQ(request.tool_choice.name, "ns__g");
  EXPECT_EQ(request.unknown_fields, (std::vector<std::string>{"tools: tool_search", "tools: web_search"}));
}

TEST(OpenAiResponses, WithoutASearchNothingIsDeferred) {
  const ApiRequest request =
      accepted(with(R"("tools":[{"type":"function","name":"f","defer_loading":true}])"));
  EXPECT_FALSE(conversation(request).tools[0].deferred);
}

TEST(OpenAiResponses, AToolThatASearchFoundIsDeclaredWhereItWasFound) {
  const ApiRequest request = accepted(R"({"tools":[
      {"type":"tool_search","execution":"client"}],"input":[
      {"type":"tool_search_call","call_id":"c","execution":"client","arguments":{"query":"q"}},
      {"type":"tool_search_output","call_id":"c","execution":"client","tools":[
        {"type":"namespace","name":"ns","tools":[{"type":"function","name":"g"}]}]},
      {"type":"tool_search_call","call_id":"d","arguments":"{\"query\":\"r\"}"},
      {"type":"tool_search_output","call_id":"d","tools":[
        {"type":"namespace","name":"ns","tools":[{"type":"function","name":"g"}]}]}]})");
  const std::string told =
      "The tool ns__g is available now:\n{\"type\":\"function\",\"function\":{\"name\":\"ns__g\"}}";
  EXPECT_EQ(show(request), "assistant call c tool_search{\"query\":\"q\"}\ntool '" + told +
                               "' for c\nassistant call d tool_search{\"query\":\"r\"}\ntool '" + told +
                               "' for d\n");
  ASSERT_EQ(conversation(request).tools.size(), 2u);
  EXPECT_TRUE(conversation(request).tools[1].deferred);
}

TEST(OpenAiResponses, LeavesOutWorkOfOpenAisServers) {
  const ApiRequest request = accepted(
      input(R"({"type":"web_search_call","id":"w","status":"completed"},{"role":"user","content":"q"})"));
  EXPECT_EQ(show(request), "user 'q'\n");
  EXPECT_EQ(request.unknown_fields, (std::vector<std::string>{"input: web_search_call"}));
}

TEST(OpenAiResponses, NamesWhatItCannotAnswerYet) {
  testing::expect_gaps(parse_openai_responses,
                       {{input(R"({"type":"function_call_output","call_id":"c","output":[
            {"type":"input_image","image_url":"data:image/png;base64,cG5n"}]})"),
                         "input[0].output[0].image_url"}});
}

TEST(OpenAiResponses, NamesWhatIsWrong) {
  testing::expect_faults(
      parse_openai_responses, ErrorCode::kInvalidArgument,
      {{"{}", "input"},
       {R"({"input":5})", "input"},
       {input(""), "input"},
       {input("1"), "input[0]"},
       {input(R"({"type":7})"), "input[0].type"},
       {input(R"({"role":"tool","content":"x"})"), "input[0].role"},
       {input(R"({"role":"user"})"), "input[0].content"},
       {input(R"({"role":"user","content":5})"), "input[0].content"},
       {input(R"({"role":"user","content":[{"type":"input_text"}]})"), "input[0].content[0].text"},
       {input(R"({"role":"user","content":[{"type":"input_image"}]})"), "input[0].content[0].image_url"},
       {input(R"({"type":"reasoning","summary":[{"type":"summary_text"}]})"), "input[0].summary[0].text"},
       {input(R"({"type":"function_call","arguments":"{}"})"), "input[0].name"},
       {input(R"({"type":"function_call_output","output":"x"})"), "input[0].call_id"},
       {input(R"({"type":"tool_search_output","tools":[{"type":"function"}]})"), "input[0].tools[0].name"},
       {with(R"("tools":[{"name":"f"}])"), "tools[0].type"},
       {with(R"("tools":[{"type":"namespace","name":"n"}])"), "tools[0].tools"},
       {with(R"("tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}])"),
        "tools[0].tools[0].name"},
       {with(R"("tool_choice":{"type":"function","name":"f"})"), "tool_choice"},
       {with(R"("max_output_tokens":0)"), "max_output_tokens"},
       {with(R"("reasoning":{"effort":1})"), "reasoning.effort"},
       {with(R"("text":{"format":{"type":"json_schema"}})"), "text.format.schema"}});
  testing::expect_faults(
      parse_openai_responses, ErrorCode::kUnsupported,
      {{with(R"("conversation":"c")"), "conversation"},
       {with(R"("conversation":{"id":"c"})"), "conversation"},
       {with(R"("background":true)"), "background"},
       {input(R"({"type":"item_reference","id":"i"})"), "input[0].type"},
       {input(R"({"role":"user","content":[{"type":"input_file"}]})"), "input[0].content[0].type"},
       {with(R"("tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp"}]}])"),
        "tools[0].tools[0].type"}});
}

}  // namespace
}  // namespace tempo9::server
