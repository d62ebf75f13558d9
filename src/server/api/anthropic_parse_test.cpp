// Bodies of Anthropic's Messages to ApiRequest.
#include "server/api/anthropic_request.h"

#include "server/testing/parsed_request.h"

namespace tempo9::server {
namespace {

using testing::conversation;
using testing::show;
using testing::show_tools;

ApiRequest accepted(const std::string& body) {
  return testing::accepted(parse_anthropic_messages, body);
}
// A request with the smallest conversation and these members; one of these messages; one message of these
// blocks.
std::string with(const std::string& members) {
  return R"({"messages":[{"role":"user","content":"Hi"}],)" + members + "}";
}
std::string messages(const std::string& list) {
  return R"({"messages":[)" + list + "]}";
}
std::string blocks(const std::string& role, const std::string& list) {
  return messages(R"({"role":")" + role + R"(","content":[)" + list + "]}");
}

TEST(AnthropicMessages, ReadsEveryOption) {
  const ApiRequest request = accepted(with(R"("model":"m","max_tokens":7,"stream":true,"temperature":0.5,
      "top_p":0.9,"top_k":40,"stop_sequences":["a","b"],"metadata":{"user_id":"u"},"service_tier":"auto",
      "context_management":{"edits":[]},"brand_new":1)"));
  EXPECT_EQ(request.model, "m");
  EXPECT_EQ(request.max_new_tokens, 7);
  EXPECT_TRUE(request.stream);
  EXPECT_EQ(request.sampling.temperature, 0.5f);
  EXPECT_EQ(request.sampling.top_k, 40);
  EXPECT_EQ(request.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.unknown_fields, (std::vector<std::string>{"brand_new"}));
  EXPECT_FALSE(request.gap);
}

TEST(AnthropicMessages, CountingNeedsNoMore) {
  EXPECT_EQ(show(accepted(R"({"model":"m","messages":[{"role":"user","content":"foo"}],"tools":[]})")),
            "user 'foo'\n");
}

TEST(AnthropicMessages, ThinksOnlyWhenAsked) {
  EXPECT_EQ(conversation(accepted(with(R"("max_tokens":1)"))).enable_thinking, false);
  EXPECT_EQ(conversation(accepted(with(R"("thinking":{"type":"disabled"})"))).enable_thinking, false);
  EXPECT_EQ(
      conversation(accepted(with(R"("thinking":{"type":"enabled","budget_tokens":9})"))).enable_thinking,
      true);
  const auto adaptive = conversation(accepted(
      with(R"("thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"high"})")));
  EXPECT_EQ(adaptive.enable_thinking, true);
  EXPECT_EQ(adaptive.reasoning_effort, "high");
}

TEST(AnthropicMessages, ATextOfTheAssistantAtTheEndIsContinued) {
  const auto continues = [](const std::string& last) {
    return conversation(accepted(messages(R"({"role":"user","content":"Hi"},)" + last)))
        .continue_final_message;
  };
  EXPECT_TRUE(continues(R"({"role":"assistant","content":"{"})"));
  EXPECT_TRUE(continues(
      R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b "}]})"));
  EXPECT_FALSE(continues(R"({"role":"assistant","content":" "})"));
  EXPECT_FALSE(continues(R"({"role":"user","content":"a"})"));
  EXPECT_FALSE(continues(
      R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{}}]})"));
  EXPECT_FALSE(
      continues(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"a"}]})"));
}

TEST(AnthropicMessages, ReadsTheConversationInPlace) {
  EXPECT_EQ(show(accepted(messages(R"(
      {"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
                                {"type":"text","text":"b"}]},
      {"role":"system","content":"later"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},
        {"type":"redacted_thinking","data":"x"},{"type":"text","text":"t"},
        {"type":"tool_use","id":"c1","name":"f","input":{"z":1,"a":2}},
        {"type":"tool_use","id":"c2","name":"g","input":{},"cache_control":{"type":"ephemeral"}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r","is_error":false},
        {"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"s"},{"type":"text","text":"t"}]},
        {"type":"text","text":"go on"}]},
      {"role":"system","content":[{"type":"text","text":"last","cache_control":{"type":"ephemeral"}}]})"))),
            "user 'a' 'b'\n"
            "system 'later'\n"
            "assistant 't' reasoning 'hm' call c1 f{\"z\":1,\"a\":2} call c2 g{}\n"
            "tool 'r' for c1\n"
            "tool 's' 't' for c2\n"
            "user 'go on'\n"
            "system 'last'\n");
}

TEST(AnthropicMessages, ResultsAndTextsKeepTheirOrder) {
  EXPECT_EQ(
      show(accepted(blocks("user", R"({"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"1"},
      {"type":"text","text":"b"},{"type":"tool_result","tool_use_id":"2","is_error":true,"content":"e"})"))),
      "user 'a'\ntool for 1\nuser 'b'\ntool 'e' for 2\n");
  EXPECT_EQ(show(accepted(messages(R"({"role":"user","content":[]})"))), "user\n");
}

TEST(AnthropicMessages, TheAttributionLineIsTakenOutOfTheSystemPromptAlone) {
  const std::string line = "x-anthropic-billing-header: cc_version=1; cch=AAAAA;";
  const auto with_system = [](const std::string& system) {
    return show(accepted(with(R"("system":)" + system)));
  };
  const auto text = [](const std::string& words) { return R"({"type":"text","text":")" + words + "\"}"; };
  EXPECT_EQ(with_system("[" + text(line) + "," + text("rules") + "]"), "system 'rules'\nuser 'Hi'\n");
  EXPECT_EQ(with_system("\"" + line + "\\nrules\""), "system 'rules'\nuser 'Hi'\n");
  EXPECT_EQ(with_system("\"" + line + "\""), "user 'Hi'\n");
  EXPECT_EQ(with_system("[" + text("rules") + "," + text(line) + "]"),
            "system 'rules' '" + line + "'\nuser 'Hi'\n");
  EXPECT_EQ(show(accepted(blocks("user", text(line)))), "user '" + line + "'\n");
  EXPECT_EQ(show(accepted(blocks("system", text(line)))), "system '" + line + "'\n");
}

TEST(AnthropicMessages, ReadsToolsAndLeavesOutThoseOfAnthropicsServers) {
  const ApiRequest request = accepted(with(R"("tools":[
      {"name":"f","description":"does f","cache_control":{"type":"ephemeral"},
       "input_schema":{"$schema":"s","type":"object","properties":{"z":{},"a":{}}}},
      {"type":"custom","name":"g","input_schema":{"type":"object"},"strict":true,
       "eager_input_streaming":true},
      {"type":"web_search_20250305","name":"web_search","max_uses":8}],
      "tool_choice":{"type":"tool","name":"g","disable_parallel_tool_use":true})"));
  EXPECT_EQ(show_tools(request),
            R"({"type":"function","function":{"name":"f","description":"does f",)"
            R"("parameters":{"$schema":"s","type":"object","properties":{"z":{},"a":{}}}}})"
            "\n"
            R"({"type":"function","function":{"name":"g","parameters":{"type":"object"}}})"
            " strict eager\n");
  EXPECT_EQ(request.unknown_fields, (std::vector<std::string>{"tools: web_search_20250305"}));
  EXPECT_EQ(request.tool_choice.name, "g");
  EXPECT_FALSE(request.parallel_tool_calls);
}

TEST(AnthropicMessages, ReadsTheChoiceOfTools) {
  const auto choice = [](const std::string& type) {
    return accepted(with(R"("tools":[{"name":"f"}],"tool_choice":{"type":")" + type + "\"}"))
        .tool_choice.kind;
  };
  EXPECT_EQ(choice("auto"), ToolChoice::Kind::kAuto);
  EXPECT_EQ(choice("any"), ToolChoice::Kind::kRequired);
  EXPECT_EQ(choice("none"), ToolChoice::Kind::kNone);
}

TEST(AnthropicMessages, AToolThatASearchFoundIsDeclaredWhereItWasFound) {
  const ApiRequest request = accepted(R"({"messages":[
      {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"search","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[
        {"type":"tool_reference","tool_name":"late"},{"type":"tool_reference","tool_name":"late"},
        {"type":"tool_reference","tool_name":"gone"}]}]}],
      "tools":[{"name":"search"},{"name":"late","defer_loading":true},{"name":"hidden","defer_loading":true}]})");
  EXPECT_EQ(
      show(request),
      "assistant call c search{}\n"
      "tool 'The tool late is available now:\n{\"type\":\"function\",\"function\":{\"name\":\"late\"}}' "
      "'The tool late is available.' 'The tool gone is available.' for c\n");
  EXPECT_FALSE(conversation(request).tools[0].deferred);
  EXPECT_TRUE(conversation(request).tools[1].deferred && conversation(request).tools[2].deferred);
}

TEST(AnthropicMessages, ReadsPicturesAndDocuments) {
  const ApiRequest request = accepted(blocks("user", R"({"type":"text","text":"see"},
      {"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},
      {"type":"tool_result","tool_use_id":"c","content":[
        {"type":"image","source":{"type":"url","url":"data:image/png;base64,cG5n"}}]},
      {"type":"document","source":{"type":"text","media_type":"text/plain","data":"words"}})"));
  EXPECT_EQ(show(request), "user 'see' image[png]\ntool image[png] for c\nuser 'words'\n");
  ASSERT_TRUE(request.gap);
  EXPECT_EQ(request.gap->param, "messages[0].content[1].source.data");
}

TEST(AnthropicMessages, LeavesOutWorkOfAnthropicsServers) {
  const ApiRequest request =
      accepted(blocks("assistant", R"({"type":"server_tool_use","id":"s","name":"web_search"},
      {"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"found"})"));
  EXPECT_EQ(show(request), "assistant 'found'\n");
  EXPECT_EQ(request.unknown_fields,
            (std::vector<std::string>{"messages: server_tool_use", "messages: web_search_tool_result"}));
}

TEST(AnthropicMessages, NamesWhatIsWrong) {
  testing::expect_faults(
      parse_anthropic_messages, ErrorCode::kInvalidArgument,
      {{"[]", ""},
       {"{}", "messages"},
       {messages(""), "messages"},
       {messages("1"), "messages[0]"},
       {messages(R"({"role":"tool","content":"x"})"), "messages[0].role"},
       {messages(R"({"role":"user"})"), "messages[0].content"},
       {messages(R"({"role":"user","content":5})"), "messages[0].content"},
       {blocks("user", "5"), "messages[0].content[0]"},
       {blocks("user", R"({"text":"x"})"), "messages[0].content[0].type"},
       {blocks("user", R"({"type":"text"})"), "messages[0].content[0].text"},
       {blocks("user", R"({"type":"tool_result"})"), "messages[0].content[0].tool_use_id"},
       {blocks("user", R"({"type":"tool_result","tool_use_id":"c","content":7})"),
        "messages[0].content[0].content"},
       {blocks("user", R"({"type":"image"})"), "messages[0].content[0].source"},
       {blocks("user", R"({"type":"image","source":{"type":"base64","data":"*"}})"),
        "messages[0].content[0].source.data"},
       {blocks("user", R"({"type":"document"})"), "messages[0].content[0].source"},
       {blocks("user", R"({"type":"tool_reference"})"), "messages[0].content[0].tool_name"},
       {blocks("assistant", R"({"type":"tool_use","id":"c"})"), "messages[0].content[0].name"},
       {blocks("assistant", R"({"type":"tool_use","name":"f","input":"x"})"), "messages[0].content[0].input"},
       {with(R"("system":5)"), "system"},
       {with(R"("system":[{"type":"text"}])"), "system[0].text"},
       {with(R"("max_tokens":0)"), "max_tokens"},
       {with(R"("stop_sequences":[""])"), "stop_sequences[0]"},
       {with(R"("tools":[{"description":"d"}])"), "tools[0].name"},
       {with(R"("tools":[{"name":"f","input_schema":"s"}])"), "tools[0].input_schema"},
       {with(R"("tool_choice":{"type":"tool","name":"f"})"), "tool_choice"},
       {with(R"("tool_choice":{"type":"any"})"), "tool_choice"},
       {with(R"("tool_choice":{"type":"some"})"), "tool_choice.type"},
       {with(R"("thinking":{"type":"deep"})"), "thinking.type"}});
  testing::expect_faults(
      parse_anthropic_messages, ErrorCode::kUnsupported,
      {{blocks("user", R"({"type":"hologram"})"), "messages[0].content[0].type"},
       {blocks("assistant", R"({"type":"image"})"), "messages[0].content[0].type"},
       {blocks("user", R"({"type":"image","source":{"type":"file"}})"), "messages[0].content[0].source.type"},
       {blocks("user", R"({"type":"image","source":{"type":"url","url":"http://x/y.png"}})"),
        "messages[0].content[0].source.url"},
       {blocks("user", R"({"type":"document","source":{"type":"base64"}})"),
        "messages[0].content[0].source.type"},
       {blocks("user", R"({"type":"tool_result","tool_use_id":"c","content":[{"type":"odd"}]})"),
        "messages[0].content[0].content[0].type"},
       {with(R"("system":[{"type":"image"}])"), "system[0].type"}});
}

}  // namespace
}  // namespace tempo9::server
