// Bodies of Ollama's chat and generate to ApiRequest.
#include "server/api/ollama_request.h"

#include "server/testing/parsed_request.h"

namespace tempo9::server {
namespace {

using testing::conversation;
using testing::show;
using testing::show_tools;

ApiRequest accepted(const std::string& body) {
  return testing::accepted(parse_ollama_chat, body);
}
ApiRequest generate(const std::string& body) {
  return testing::accepted(parse_ollama_generate, body);
}
// A request with the smallest conversation and these members; one of these messages.
std::string with(const std::string& members) {
  return R"({"messages":[{"role":"user","content":"Hi"}],)" + members + "}";
}
std::string messages(const std::string& list) {
  return R"({"messages":[)" + list + "]}";
}

TEST(OllamaChat, ReadsEveryOption) {
  const ApiRequest request = accepted(with(R"("model":"m","stream":false,"think":false,"keep_alive":"5m",
      "truncate":false,"shift":false,"logprobs":true,"top_logprobs":2,"format":"","tools":[],"brand_new":1,
      "options":{"num_ctx":32768,"num_predict":7,"temperature":0.5,"top_k":40,"top_p":0.9,"min_p":0.05,
                 "repeat_penalty":1.1,"presence_penalty":0.5,"frequency_penalty":0.25,"seed":3,
                 "stop":["a"],"mirostat":1})"));
  EXPECT_EQ(request.model, "m");
  EXPECT_FALSE(request.stream);
  EXPECT_EQ(conversation(request).enable_thinking, false);
  EXPECT_EQ(request.max_new_tokens, 7);
  EXPECT_EQ(request.sampling.temperature, 0.5f);
  EXPECT_EQ(request.sampling.repetition_penalty, 1.1f);
  EXPECT_EQ(request.sampling.top_logprobs, 2);
  EXPECT_EQ(request.seed, 3u);
  EXPECT_EQ(request.stop, (std::vector<std::string>{"a"}));
  EXPECT_EQ(request.unknown_fields, (std::vector<std::string>{"brand_new"}));
  EXPECT_FALSE(request.gap);
}

TEST(OllamaChat, WhatIsLeftOutHasTheProtocolsDefault) {
  const ApiRequest request =
      accepted(with(R"("options":{"temperature":null,"num_predict":-1},"tools":null,"format":null)"));
  EXPECT_TRUE(request.stream);
  EXPECT_EQ(request.max_new_tokens, 0);
  EXPECT_EQ(conversation(request).enable_thinking, std::nullopt);
}

TEST(OllamaChat, ThinkMayBeALevel) {
  const chat::ChatRequest asked = conversation(accepted(with(R"("think":"medium")")));
  EXPECT_EQ(asked.enable_thinking, true);
  EXPECT_EQ(asked.reasoning_effort, "medium");
}

TEST(OllamaChat, NoMessagesAskForTheModelToBeLoaded) {
  EXPECT_EQ(show(accepted(R"({"model":"m"})")), "");
  EXPECT_EQ(show(accepted(R"({"model":"m","messages":[],"keep_alive":0})")), "");
}

TEST(OllamaChat, ReadsTheConversation) {
  EXPECT_EQ(show(accepted(messages(R"(
      {"role":"system","content":"s"},
      {"role":"user","content":"q","images":[]},
      {"role":"assistant","content":"","thinking":"hm","tool_calls":[
        {"id":"c1","function":{"name":"f","arguments":{"z":1,"a":2}}},
        {"function":{"index":1,"name":"g","arguments":"{\"k\":1}"}}]},
      {"role":"tool","content":"r","tool_call_id":"c1","tool_name":"f"},
      {"role":"tool","content":"s","tool_name":"g"})"))),
            "system 's'\nuser 'q'\n"
            "assistant '' reasoning 'hm' call c1 f{\"z\":1,\"a\":2} call  g{\"k\":1}\n"
            "tool 'r' for c1 of f\ntool 's' of g\n");
}

TEST(OllamaChat, ReadsToolsAndPictures) {
  const ApiRequest request = accepted(R"({"messages":[{"role":"user","content":"see","images":["cG5n"]}],
      "tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]})");
  EXPECT_EQ(show(request), "user image[png] 'see'\n");
  EXPECT_EQ(show_tools(request),
            R"({"type":"function","function":{"name":"f","parameters":{"type":"object"}}})"
            "\n");
}

TEST(OllamaChat, ReadsTheFormOfTheReply) {
  EXPECT_EQ(accepted(with(R"("format":"json")")).output.kind, OutputFormat::Kind::kJson);
  const OutputFormat output = accepted(with(R"("format":{"type":"object","a":1})")).output;
  EXPECT_EQ(output.kind, OutputFormat::Kind::kSchema);
  EXPECT_EQ(dump_json(output.schema), R"({"type":"object","a":1})");
  EXPECT_EQ(output.field, "format");
}

TEST(OllamaChat, NamesWhatItCannotAnswerYet) {
  testing::expect_gaps(parse_ollama_chat,
                       {{messages(R"({"role":"user","images":["cG5n"]})"), "messages[0].images[0]"}});
}

TEST(OllamaChat, NamesWhatIsWrong) {
  testing::expect_faults(
      parse_ollama_chat, ErrorCode::kInvalidArgument,
      {{"[]", ""},
       {R"({"messages":"Hi"})", "messages"},
       {messages("1"), "messages[0]"},
       {messages(R"({"role":"developer","content":"x"})"), "messages[0].role"},
       {messages(R"({"role":"user","content":["x"]})"), "messages[0].content"},
       {messages(R"({"role":"user","images":[5]})"), "messages[0].images[0]"},
       {messages(R"({"role":"user","images":["?"]})"), "messages[0].images[0]"},
       {messages(R"({"role":"assistant","tool_calls":[{}]})"), "messages[0].tool_calls[0].function"},
       {messages(R"({"role":"assistant","tool_calls":[{"function":{}}]})"),
        "messages[0].tool_calls[0].function.name"},
       {with(R"("think":1)"), "think"},
       {with(R"("format":"yaml")"), "format"},
       {with(R"("options":{"num_predict":-3})"), "options.num_predict"},
       {with(R"("options":{"stop":[5]})"), "options.stop[0]"},
       {with(R"("options":{"temperature":"hot"})"), "options.temperature"},
       {with(R"("tools":[{"type":"function"}])"), "tools[0].function"}});
}

TEST(OllamaGenerate, IsAConversationOfOneMessage) {
  EXPECT_EQ(show(generate(R"({"prompt":"q","system":"s"})")), "system 's'\nuser 'q'\n");
  EXPECT_EQ(show(generate(R"({"prompt":"q","images":["cG5n"]})")), "user image[png] 'q'\n");
  EXPECT_TRUE(generate(R"({"prompt":"q"})").stream);
}

TEST(OllamaGenerate, RawIsThePromptAsItStands) {
  const ApiRequest request = generate(R"({"prompt":"<|a|>","raw":true,"suffix":"","context":[]})");
  EXPECT_EQ(std::get<std::vector<TextPrompt>>(request.input), (std::vector<TextPrompt>{"<|a|>"}));
}

TEST(OllamaGenerate, NoPromptAsksForTheModelToBeLoaded) {
  EXPECT_EQ(show(generate(R"({"model":"m","system":"s"})")), "");
}

TEST(OllamaGenerate, NamesWhatItDoesNotSupport) {
  testing::expect_faults(parse_ollama_generate, ErrorCode::kUnsupported,
                         {{R"({"prompt":"a","suffix":"b"})", "suffix"},
                          {R"({"prompt":"a","template":"{{ .Prompt }}"})", "template"},
                          {R"({"prompt":"a","context":[1,2]})", "context"}});
  testing::expect_faults(parse_ollama_generate, ErrorCode::kInvalidArgument,
                         {{R"({"prompt":5})", "prompt"}, {R"({"prompt":"a","raw":"yes"})", "raw"}});
}

}  // namespace
}  // namespace tempo9::server
