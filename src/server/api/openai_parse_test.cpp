// Bodies of OpenAI requests to ApiRequest: what is read, and how each fault is named.
#include <gtest/gtest.h>

#include "base/limits.h"
#include "server/api/json_parse.h"
#include "server/api/openai_chat_request.h"
#include "server/api/openai_completions_request.h"
#include "server/testing/parsed_request.h"

namespace tempo9::server {
namespace {

using testing::conversation;
using testing::expect_faults;
using testing::expect_gaps;
using testing::Fault;
using testing::model;

// A chat request with the smallest conversation and these members; a completion; a chat of these messages.
std::string chat(const std::string& members) {
  const std::string messages = R"("messages":[{"role":"user","content":"Hi"}])";
  return "{" + messages + (members.empty() ? "" : "," + members) + "}";
}
std::string completion(const std::string& members) {
  return R"({"prompt":"a",)" + members + "}";
}
std::string messages(const std::string& list) {
  return R"({"messages":[)" + list + "]}";
}

ApiRequest accepted(const std::string& body) {
  return testing::accepted(parse_openai_chat, body);
}

ApiRequest accepted_completion(const std::string& body) {
  return testing::accepted(parse_openai_completions, body);
}

TEST(OpenAiChat, TheSmallestRequestHasTheProtocolsDefaults) {
  const ApiRequest request = accepted(chat(""));
  EXPECT_EQ(request.model, "");
  EXPECT_FALSE(request.stream);
  EXPECT_EQ(request.choices, 1);
  EXPECT_EQ(request.max_new_tokens, 0);
  EXPECT_FALSE(request.seed);
  EXPECT_EQ(request.sampling.temperature, 1.0f);
  EXPECT_EQ(request.sampling.top_p, 1.0f);
  EXPECT_EQ(request.sampling.top_logprobs, -1);
  ASSERT_EQ(conversation(request).messages.size(), 1u);
  EXPECT_EQ(conversation(request).messages[0].content[0].text, "Hi");
  EXPECT_TRUE(conversation(request).add_generation_prompt);
}

TEST(OpenAiChat, ReadsEveryOption) {
  const ApiRequest request =
      accepted(chat(R"("model":"m","stream":true,"stream_options":{"include_usage":true},
      "n":3,"stop":["a","b"],"max_tokens":7,"seed":-5,"temperature":0.5,"top_p":0.9,"top_k":40,"min_p":0.05,
      "presence_penalty":-1.5,"frequency_penalty":1.5,"repetition_penalty":1.1,
      "logit_bias":{"5":-100,"999":2.5},"logprobs":true,"top_logprobs":4)"));
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.stream && request.stream_usage);
  EXPECT_EQ(request.choices, 3);
  EXPECT_EQ(request.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.max_new_tokens, 7);
  EXPECT_EQ(*request.seed, static_cast<uint64_t>(-5));
  const sample::SamplingOptions& sampling = request.sampling;
  EXPECT_EQ(sampling.temperature, 0.5f);
  EXPECT_EQ(sampling.top_p, 0.9f);
  EXPECT_EQ(sampling.top_k, 40);
  EXPECT_EQ(sampling.min_p, 0.05f);
  EXPECT_EQ(sampling.presence_penalty, -1.5f);
  EXPECT_EQ(sampling.frequency_penalty, 1.5f);
  EXPECT_EQ(sampling.repetition_penalty, 1.1f);
  EXPECT_EQ(sampling.logit_bias, (std::vector<std::pair<TokenId, float>>{{5, -100.0f}, {999, 2.5f}}));
  EXPECT_EQ(sampling.top_logprobs, 4);
}

TEST(OpenAiChat, ReadsTheOtherSpellings) {
  EXPECT_EQ(accepted(chat(R"("stop":"x")")).stop, std::vector<std::string>{"x"});
  EXPECT_EQ(accepted(chat(R"("max_completion_tokens":9)")).max_new_tokens, 9);
  EXPECT_EQ(accepted(chat(R"("max_tokens":-1)")).max_new_tokens, 0);
  EXPECT_EQ(accepted(chat(R"("max_tokens":8.0)")).max_new_tokens, 8);
  EXPECT_EQ(accepted(chat(R"("repeat_penalty":1.5)")).sampling.repetition_penalty, 1.5f);
  EXPECT_EQ(accepted(chat(R"("top_k":-1)")).sampling.top_k, 0);
  EXPECT_GT(accepted(chat(R"("top_p":0)")).sampling.top_p, 0.0f);
  EXPECT_EQ(accepted(chat(R"("logprobs":true)")).sampling.top_logprobs, 0);
}

TEST(OpenAiChat, NullIsTheSameAsAbsent) {
  const ApiRequest request = accepted(chat(R"("model":null,"stream":null,"stop":null,"n":null,
      "temperature":null,"logit_bias":null,"tools":null,"seed":null,"response_format":null,
      "stream_options":null,"max_tokens":null)"));
  EXPECT_EQ(request.sampling.temperature, 1.0f);
  EXPECT_TRUE(request.unknown_fields.empty());
}

TEST(OpenAiChat, ReadsTheConversation) {
  const ApiRequest request = accepted(messages(R"(
      {"role":"system","content":"be brief"},
      {"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
      {"role":"user","content":"call it","name":"Ann"},
      {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[
        {"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},
        {"id":"c2","function":{"name":"g","arguments":"not json"}}]},
      {"role":"tool","tool_call_id":"c2","content":"result"},
      {"role":"assistant","content":[{"type":"refusal","refusal":"no"}]})"));
  const auto& turns = conversation(request).messages;
  ASSERT_EQ(turns.size(), 6u);
  EXPECT_EQ(turns[0].role, chat::Role::kSystem);
  EXPECT_EQ(turns[1].role, chat::Role::kDeveloper);
  ASSERT_EQ(turns[1].content.size(), 2u);
  EXPECT_EQ(turns[1].content[1].text, "b");
  EXPECT_TRUE(turns[3].content.empty());
  EXPECT_EQ(turns[3].reasoning, "hm");
  ASSERT_EQ(turns[3].tool_calls.size(), 2u);
  EXPECT_EQ(dump_json(turns[3].tool_calls[0].arguments), R"({"x":1})");
  EXPECT_EQ(dump_json(turns[3].tool_calls[1].arguments), R"("not json")");
  EXPECT_EQ(turns[4].role, chat::Role::kTool);
  EXPECT_EQ(turns[4].tool_call_id, "c2");
  EXPECT_EQ(turns[5].content[0].text, "no");
}

TEST(OpenAiChat, ReadsWhatTheTemplateIsTold) {
  const ApiRequest request = accepted(chat(R"("reasoning_effort":"low","add_generation_prompt":false,
      "chat_template_kwargs":{"enable_thinking":false,"style":"terse"})"));
  EXPECT_EQ(conversation(request).reasoning_effort, "low");
  EXPECT_FALSE(conversation(request).add_generation_prompt);
  EXPECT_EQ(conversation(request).enable_thinking, false);
  EXPECT_EQ(dump_json(conversation(request).template_arguments), R"({"style":"terse"})");
}

std::string strings(size_t count, size_t length) {
  std::string list;
  for (size_t i = 0; i < count; ++i) list += (i == 0 ? "\"" : ",\"") + std::string(length, 'x') + "\"";
  return "[" + list + "]";
}

TEST(OpenAiChat, ContinuesTheLastMessageWhenAsked) {
  EXPECT_FALSE(conversation(accepted(chat(""))).continue_final_message);
  const ApiRequest request = accepted(chat(R"("continue_final_message":true,"add_generation_prompt":false)"));
  EXPECT_TRUE(conversation(request).continue_final_message);
  EXPECT_FALSE(conversation(request).add_generation_prompt);
  EXPECT_TRUE(conversation(accepted(chat(R"("continue_final_message":true)"))).continue_final_message);
  expect_faults(
      parse_openai_chat, ErrorCode::kInvalidArgument,
      {{chat(R"("continue_final_message":true,"add_generation_prompt":true)"), "continue_final_message"},
       {chat(R"("continue_final_message":"yes")"), "continue_final_message"}});
}

TEST(OpenAiChat, ArgumentsOfAllCallsShareOneBound) {
  std::string list = "1";
  for (size_t i = 1; i < limits::kMaxJsonValues / 2; ++i) list += ",1";
  const std::string call =
      R"({"id":"c","type":"function","function":{"name":"f","arguments":"{\"k\":[)" + list + R"(]}"}})";
  const auto turn = [&](const std::string& calls) {
    return messages(R"({"role":"assistant","tool_calls":[)" + calls + "]}");
  };
  EXPECT_EQ(conversation(accepted(turn(call))).messages[0].tool_calls[0].arguments["k"].size(),
            limits::kMaxJsonValues / 2);
  expect_faults(parse_openai_chat, ErrorCode::kInvalidArgument,
                {{turn(call + "," + call), "messages[0].tool_calls[1].function.arguments"}});
}

TEST(OpenAiChat, NamesTheMessageThatIsWrong) {
  const auto content = [](const std::string& parts) {
    return messages(R"({"role":"user","content":[)" + parts + "]}");
  };
  const auto calls = [](const std::string& list) {
    return messages(R"({"role":"user","content":"x"},{"role":"assistant","tool_calls":[)" + list + "]}");
  };
  expect_faults(parse_openai_chat, ErrorCode::kInvalidArgument,
                {{"[]", ""},
                 {"{}", "messages"},
                 {R"({"messages":"Hi"})", "messages"},
                 {messages(""), "messages"},
                 {messages("1"), "messages[0]"},
                 {messages(R"({"content":"x"})"), "messages[0].role"},
                 {messages(R"({"role":"wizard","content":"x"})"), "messages[0].role"},
                 {messages(R"({"role":7,"content":"x"})"), "messages[0].role"},
                 {messages(R"({"role":"user"})"), "messages[0].content"},
                 {messages(R"({"role":"user","content":5})"), "messages[0].content"},
                 {content("5"), "messages[0].content[0]"},
                 {content(R"({"type":"text","text":5})"), "messages[0].content[0].text"},
                 {content(R"({"type":"text"})"), "messages[0].content[0].text"},
                 {content(R"({"text":"x"})"), "messages[0].content[0].type"},
                 {content(R"({"type":"text","text":""},{"type":"poem"})"), "messages[0].content[1].type"},
                 {messages(R"({"role":"assistant","tool_calls":{}})"), "messages[0].tool_calls"},
                 {content(R"({"type":"image_url"})"), "messages[0].content[0].image_url"},
                 {content(R"({"type":"image_url","image_url":{"url":"data:image/png;base64,?"}})"),
                  "messages[0].content[0].image_url.url"},
                 {calls(R"({"id":"c"})"), "messages[1].tool_calls[0].function"},
                 {calls(R"({"type":"custom","custom":{}})"), "messages[1].tool_calls[0].custom.name"},
                 {calls(R"({"function":{}})"), "messages[1].tool_calls[0].function.name"}});
}

TEST(OpenAiChat, NamesTheOptionThatIsWrong) {
  const size_t stops = limits::kMaxStopStrings, stop_bytes = limits::kMaxStopStringBytes;
  const std::vector<std::pair<std::string, std::string>> members = {
      {R"("model":1)", "model"},
      {R"("stream":"yes")", "stream"},
      {R"("stream_options":true)", "stream_options"},
      {R"("stream_options":{"include_usage":1})", "stream_options.include_usage"},
      {R"("n":0)", "n"},
      {R"("n":9)", "n"},
      {R"("n":1.5)", "n"},
      {R"("stop":5)", "stop"},
      {R"("stop":["a",5])", "stop[1]"},
      {R"("stop":[""])", "stop[0]"},
      {R"("stop":)" + strings(stops + 1, 1), "stop"},
      {R"("stop":)" + strings(1, stop_bytes + 1), "stop[0]"},
      {R"("max_tokens":0)", "max_tokens"},
      {R"("max_tokens":"many")", "max_tokens"},
      {R"("max_tokens":1e300)", "max_tokens"},
      {R"("max_completion_tokens":-2)", "max_completion_tokens"},
      {R"("temperature":-0.1)", "temperature"},
      {R"("temperature":101)", "temperature"},
      {R"("temperature":"hot")", "temperature"},
      {R"("top_p":1.1)", "top_p"},
      {R"("min_p":-1)", "min_p"},
      {R"("top_k":-2)", "top_k"},
      {R"("presence_penalty":2.5)", "presence_penalty"},
      {R"("frequency_penalty":-2.5)", "frequency_penalty"},
      {R"("repetition_penalty":0)", "repetition_penalty"},
      {R"("seed":18446744073709551615)", "seed"},
      {R"("logit_bias":{"1000":1})", "logit_bias.1000"},
      {R"("logit_bias":{"x":1})", "logit_bias.x"},
      {R"("logit_bias":{"5":101})", "logit_bias.5"},
      {R"("top_logprobs":2)", "top_logprobs"},
      {R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
      {R"("response_format":{"kind":"text"})", "response_format.type"},
      {R"("response_format":{"type":"json_schema"})", "response_format.schema"},
      {R"("response_format":{"type":"json_schema","json_schema":{}})", "response_format.json_schema.schema"},
      {R"("tools":{})", "tools"},
      {R"("tools":[{"type":"function"}])", "tools[0].function"},
      {R"("tools":[{"type":"function","function":{"name":"f","parameters":[]}}])",
       "tools[0].function.parameters"},
      {R"("tool_choice":"must")", "tool_choice"},
      {R"("tool_choice":"required")", "tool_choice"},
      {R"("tool_choice":{"type":"function","function":{"name":"f"}})", "tool_choice"},
      {R"("chat_template_kwargs":{"enable_thinking":"no"})", "chat_template_kwargs.enable_thinking"},
  };
  std::vector<Fault> faults;
  for (const auto& [member, param] : members) faults.push_back({chat(member), param});
  expect_faults(parse_openai_chat, ErrorCode::kInvalidArgument, faults);
  EXPECT_EQ(parse_openai_chat(chat(R"("temperature":"hot")"), model()).error().message,
            "temperature: expected a number, but got a string");
}

TEST(OpenAiChat, TooManyLogitBiasesAreRefused) {
  std::string biases;
  for (size_t i = 0; i <= limits::kMaxLogitBiases; ++i)
    biases += fmt::format("{}\"{}\":0", i == 0 ? "" : ",", i);
  expect_faults(parse_openai_chat, ErrorCode::kInvalidArgument,
                {{chat("\"logit_bias\":{" + biases + "}"), "logit_bias"}});
}

TEST(OpenAiChat, RefusesByNameWhatItDoesNotSupport) {
  const auto content = [](const std::string& type) {
    return messages(R"({"role":"user","content":[{"type":")" + type + "\"}]}");
  };
  const auto image = [](const std::string& url) {
    return messages(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":")" + url + "\"}}]}");
  };
  expect_faults(
      parse_openai_chat, ErrorCode::kUnsupported,
      {{chat(R"("tools":[{"type":"web_search"}])"), "tools[0].type"},
       {chat(R"("tool_choice":{"type":"allowed_tools"})"), "tool_choice.type"},
       {chat(R"("response_format":{"type":"grammar"})"), "response_format.type"},
       {image("http://example.org/cat.png"), "messages[0].content[0].image_url.url"},
       {chat(R"("functions":[{"name":"f"}])"), "functions"},
       {chat(R"("modalities":["text","audio"])"), "modalities"},
       {chat(R"("audio":{"voice":"alloy"})"), "audio"},
       {chat(R"("web_search_options":{"size":"low"})"), "web_search_options"},
       {chat(R"("grammar":"root ::= \"x\"")"), "grammar"},
       {chat(R"("min_tokens":5)"), "min_tokens"},
       {content("input_audio"), "messages[0].content[0].type"},
       {content("file"), "messages[0].content[0].type"},
       {messages(R"({"role":"assistant","function_call":{"name":"f"}})"), "messages[0].function_call"},
       {messages(R"({"role":"assistant","tool_calls":[{"type":"mcp","function":{"name":"f"}}]})"),
        "messages[0].tool_calls[0].type"}});
}

TEST(OpenAiChat, EndTokensCanBeIgnored) {
  EXPECT_FALSE(accepted(chat(R"("seed":1)")).ignore_end);
  EXPECT_TRUE(accepted(chat(R"("ignore_eos":true)")).ignore_end);
}

TEST(OpenAiChat, NamesWhatItReadsButCannotAnswerYet) {
  expect_gaps(parse_openai_chat, {{messages(R"({"role":"user","content":[{"type":"text","text":"see"},
                   {"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n","detail":"low"}}]})"),
                                   "messages[0].content[1].image_url.url"}});
}

TEST(OpenAiChat, ReadsToolsInTheOrderOfTheirKeys) {
  const ApiRequest request = accepted(chat(R"("tools":[
      {"type":"function","function":{"strict":true,"parameters":{"z":1,"a":{"y":2,"b":3}},"name":"f",
                                     "description":"does f"}},
      {"type":"function","function":{"name":"g"}},
      {"type":"custom","custom":{"name":"p","description":"patch",
        "format":{"type":"grammar","syntax":"lark","definition":"start: x"}}}],
      "tool_choice":{"type":"custom","custom":{"name":"p"}},"parallel_tool_calls":false)"));
  EXPECT_EQ(
      testing::show_tools(request),
      R"({"type":"function","function":{"name":"f","description":"does f","parameters":{"z":1,"a":{"y":2,"b":3}}}})"
      " strict\n"
      R"({"type":"function","function":{"name":"g"}})"
      "\n"
      R"({"type":"function","function":{"name":"p","description":"patch\n\nThe input follows this lark grammar:\nstart: x",)"
      R"("parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}}})"
      " free-form\n");
  EXPECT_EQ(request.tool_choice.kind, ToolChoice::Kind::kNamed);
  EXPECT_EQ(request.tool_choice.name, "p");
  EXPECT_FALSE(request.parallel_tool_calls);
}

TEST(OpenAiChat, ReadsCallsOfFreeFormTools) {
  EXPECT_EQ(
      testing::show(accepted(messages(
          R"({"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"p","input":"*"}}]})"))),
      "assistant call c p{\"input\":\"*\"}\n");
}

TEST(OpenAiChat, NoEffortIsNoThinking) {
  const ApiRequest request = accepted(chat(R"("reasoning_effort":"none")"));
  EXPECT_EQ(conversation(request).reasoning_effort, std::nullopt);
  EXPECT_EQ(conversation(request).enable_thinking, false);
}

TEST(OpenAiChat, AcceptsUnsupportedFieldsThatAskForNothing) {
  const ApiRequest request = accepted(chat(R"("tools":[],"tool_choice":"none","function_call":"auto",
      "response_format":{"type":"text"},"modalities":["text"],"ignore_eos":false,"min_tokens":0,"grammar":"")"));
  EXPECT_TRUE(request.unknown_fields.empty());
}

TEST(OpenAiChat, IgnoresWhatItDoesNotKnow) {
  const ApiRequest request =
      accepted(chat(R"("user":"u","metadata":{"k":"v"},"store":false,"brand_new":1,"also_new":[1])"));
  EXPECT_EQ(request.unknown_fields, (std::vector<std::string>{"brand_new", "also_new"}));
}

TEST(OpenAiCompletions, ReadsEveryKindOfPrompt) {
  const auto prompts = [](const std::string& prompt) {
    return std::get<std::vector<TextPrompt>>(accepted_completion(R"({"prompt":)" + prompt + "}").input);
  };
  using Prompts = std::vector<TextPrompt>;
  using Ids = std::vector<TokenId>;
  EXPECT_EQ(prompts(R"("a")"), (Prompts{"a"}));
  EXPECT_EQ(prompts(R"(["a","b"])"), (Prompts{"a", "b"}));
  EXPECT_EQ(prompts("[1,2,3]"), (Prompts{Ids{1, 2, 3}}));
  EXPECT_EQ(prompts("[[1,2],[999]]"), (Prompts{Ids{1, 2}, Ids{999}}));
}

TEST(OpenAiCompletions, HasItsOwnDefaultsAndLogprobs) {
  const ApiRequest request = accepted_completion(completion(R"("logprobs":3,"best_of":1,"echo":false)"));
  EXPECT_EQ(request.max_new_tokens, 16);
  EXPECT_EQ(request.sampling.top_logprobs, 3);
}

TEST(OpenAiCompletions, NamesTheFieldThatIsWrong) {
  const size_t most = limits::kMaxSequences;
  expect_faults(parse_openai_completions, ErrorCode::kInvalidArgument,
                {{"{}", "prompt"},
                 {R"({"prompt":5})", "prompt"},
                 {R"({"prompt":[]})", "prompt"},
                 {R"({"prompt":["a",5]})", "prompt[1]"},
                 {R"({"prompt":[5,"a"]})", "prompt[1]"},
                 {R"({"prompt":[1000]})", "prompt[0]"},
                 {R"({"prompt":[-1]})", "prompt[0]"},
                 {R"({"prompt":[18446744073709551615]})", "prompt[0]"},
                 {R"({"prompt":[[1,1.5]]})", "prompt[0][1]"},
                 {R"({"prompt":)" + strings(most + 1, 1) + "}", "prompt"},
                 {R"({"n":2,"prompt":)" + strings(most, 1) + "}", "n"},
                 {completion(R"("logprobs":true)"), "logprobs"},
                 {completion(R"("best_of":0)"), "best_of"}});
  expect_faults(parse_openai_completions, ErrorCode::kUnsupported,
                {{completion(R"("echo":true)"), "echo"},
                 {completion(R"("suffix":"b")"), "suffix"},
                 {completion(R"("best_of":2)"), "best_of"}});
}

}  // namespace
}  // namespace tempo9::server
