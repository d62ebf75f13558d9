// From what a model writes to the calls of a reply, in every dialect, over a real socket, with a fake engine.
#include <gtest/gtest.h>

#include <set>

#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;

// Of a family that writes calls as JSON between two tags, as many do.
constexpr const char* kCallingTemplate =
    "{% if tools %}<|system|>{% for t in tools %}{{ t | tojson }}{% endfor %}<|end|>\n{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls %}"
    "<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}\n"
    "</tool_call>{% endfor %}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

void call_tools(ServerOptions&, FakeEngine& engine) {
  engine.model().chat_template = kCallingTemplate;
}

const std::string kWeather =
    "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call>";
const std::string kNow = "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";

const Json kSchema = {{"type", "object"}, {"properties", {{"city", {{"type", "string"}}}}}};

// What every dialect says of a reply.
struct Said {
  std::string text, end;
  std::vector<std::string> calls;  // name and arguments
  int tokens = 0;
  bool operator==(const Said&) const = default;
};

struct Dialect {
  const char* name;
  const char* path;
  Json (*body)();  // a question and two tools
  Said (*read)(const Json& reply);
  const char* calls;       // how the reply says that it ended with calls
  const char* length;      // or at its limit
  Json limit;              // of twenty tokens
  Json one_call, no_call;  // options; null: the protocol has none
};

std::string shown(const std::string& name, const Json& arguments) {
  return name + arguments.dump();
}

Json parsed(const Json& arguments) {
  return parse_json(arguments.get<std::string>()).value_or("no JSON");
}

Json question() {
  return Json::array({{{"role", "user"}, {"content", "Hi"}}});
}

Json functions() {
  Json tools = Json::array();
  for (const char* name : {"get_weather", "now"})
    tools.push_back({{"type", "function"}, {"function", {{"name", name}, {"parameters", kSchema}}}});
  return tools;
}

Json chat_question() {
  return {{"model", "m"}, {"messages", question()}, {"tools", functions()}};
}

Said read_chat(const Json& reply) {
  const Json& choice = reply["choices"][0];
  Said said{choice["message"]["content"].is_null() ? "" : choice["message"]["content"].get<std::string>(),
            choice["finish_reason"],
            {},
            reply["usage"]["completion_tokens"]};
  for (const Json& call : choice["message"].value("tool_calls", Json::array()))
    said.calls.push_back(shown(call["function"]["name"], parsed(call["function"]["arguments"])));
  return said;
}

Json responses_question() {
  Json tools = Json::array();
  for (const char* name : {"get_weather", "now"})
    tools.push_back({{"type", "function"}, {"name", name}, {"parameters", kSchema}});
  return {{"model", "m"}, {"input", question()}, {"tools", tools}};
}

Said read_response(const Json& reply) {
  Said said{"", reply["status"], {}, reply["usage"]["output_tokens"]};
  for (const Json& item : reply["output"]) {
    if (item["type"] == "message") said.text += item["content"][0]["text"];
    if (item["type"] == "function_call") said.calls.push_back(shown(item["name"], parsed(item["arguments"])));
  }
  return said;
}

Json messages_question() {
  Json tools = Json::array();
  for (const char* name : {"get_weather", "now"})
    tools.push_back({{"name", name}, {"input_schema", kSchema}});
  return {{"model", "m"}, {"max_tokens", 1000}, {"messages", question()}, {"tools", tools}};
}

Said read_message(const Json& reply) {
  Said said{"", reply["stop_reason"], {}, reply["usage"]["output_tokens"]};
  for (const Json& block : reply["content"]) {
    if (block["type"] == "text") said.text += block["text"];
    if (block["type"] == "tool_use") said.calls.push_back(shown(block["name"], block["input"]));
  }
  return said;
}

Said read_ollama(const Json& reply) {
  Said said{reply["message"]["content"], reply["done_reason"], {}, reply["eval_count"]};
  for (const Json& call : reply["message"].value("tool_calls", Json::array()))
    said.calls.push_back(shown(call["function"]["name"], call["function"]["arguments"]));
  return said;
}

const Dialect kDialects[] = {
    {"Chat",
     "/v1/chat/completions",
     chat_question,
     read_chat,
     "tool_calls",
     "length",
     {{"max_tokens", 20}},
     {{"parallel_tool_calls", false}},
     {{"tool_choice", "none"}}},
    {"Responses",
     "/v1/responses",
     responses_question,
     read_response,
     "completed",
     "incomplete",
     {{"max_output_tokens", 20}},
     {{"parallel_tool_calls", false}},
     {{"tool_choice", "none"}}},
    {"Messages",
     "/v1/messages",
     messages_question,
     read_message,
     "tool_use",
     "max_tokens",
     {{"max_tokens", 20}},
     {{"tool_choice", {{"type", "auto"}, {"disable_parallel_tool_use", true}}}},
     {{"tool_choice", {{"type", "none"}}}}},
    {"Ollama",
     "/api/chat",
     chat_question,
     read_ollama,
     "stop",
     "length",
     {{"options", {{"num_predict", 20}}}},
     {},  // no words for these two
     {}},
};

class CallsOf : public ::testing::TestWithParam<Dialect> {
 protected:
  CallsOf() : server_(call_tools) {}

  Said ask(const std::string& text, const Json& more = Json::object()) {
    server_.engine.say(text);
    Json body = GetParam().body();
    body["stream"] = false;
    body.update(more);
    return GetParam().read(body_of(server_.post(GetParam().path, body)));
  }

  TestServer server_;
};
INSTANTIATE_TEST_SUITE_P(All, CallsOf, ::testing::ValuesIn(kDialects),
                         [](const auto& test) { return std::string(test.param.name); });

// Of the dialects that have words for how many calls there may be.
class LimitedCallsOf : public CallsOf {};
INSTANTIATE_TEST_SUITE_P(All, LimitedCallsOf, ::testing::ValuesIn(kDialects, kDialects + 3),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(CallsOf, StandBesideTheText) {
  const std::string text = "Let me look.\n" + kWeather + "\n" + kNow;
  const Said expected{"Let me look.",
                      GetParam().calls,
                      {"get_weather{\"city\":\"Rome\"}", "now{}"},
                      static_cast<int>(text.size()) + 1};
  EXPECT_EQ(ask(text), expected);
}

TEST_P(CallsOf, NeedATool) {
  Json no_tools = {{"tools", Json::array()}};
  EXPECT_EQ(ask(kWeather, no_tools).text, kWeather);
  EXPECT_TRUE(ask(kWeather, no_tools).calls.empty());
}

TEST_P(CallsOf, EndWhereTheLengthCuts) {
  const Said cut = ask(kWeather, GetParam().limit);
  EXPECT_EQ(cut.text, kWeather.substr(0, 20));
  EXPECT_EQ(cut.end, GetParam().length);
  EXPECT_TRUE(cut.calls.empty());
  EXPECT_EQ(cut.tokens, 20);
}

TEST_P(LimitedCallsOf, MayBeOneAtMost) {
  server_.engine.change([](FakeScript& script) { script.step = std::chrono::milliseconds(1); });
  const Said said = ask("A\n" + kWeather + "\n" + kNow, GetParam().one_call);
  EXPECT_EQ(said.text, "A");
  EXPECT_EQ(said.calls, std::vector<std::string>{"get_weather{\"city\":\"Rome\"}"});
  EXPECT_EQ(said.end, GetParam().calls);
  EXPECT_EQ(said.tokens, static_cast<int>(kWeather.size()) + 2);
  EXPECT_TRUE(server_.engine.wait_for_cancels(1));
}

TEST_P(LimitedCallsOf, MayBeForbidden) {
  const Said said = ask(kWeather, GetParam().no_call);
  EXPECT_EQ(said.text, kWeather);
  EXPECT_TRUE(said.calls.empty());
}

TEST(ToolCalls, ComeInPiecesWhileTheModelWrites) {
  TestServer server(call_tools);
  server.engine.say(kWeather);
  Json body = chat_question();
  body["stream"] = true;
  std::string arguments;
  int pieces = 0;
  for (const std::string& event : server.post("/v1/chat/completions", body).events()) {
    if (event == "[DONE]") continue;
    const Json delta = (*parse_json(event))["choices"][0]["delta"];
    EXPECT_EQ(delta.value("content", ""), "");
    if (!delta.contains("tool_calls")) continue;
    arguments += delta["tool_calls"][0]["function"]["arguments"];
    ++pieces;
  }
  EXPECT_EQ(arguments, "{\"city\": \"Rome\"}");
  EXPECT_GT(pieces, 5);
}

TEST(ToolCalls, AreCompleteInFrontOfAStopString) {
  TestServer server(call_tools);
  server.engine.say(kNow + "\nObservation: none");
  Json body = chat_question();
  body["stop"] = "Observation:";
  const Said said = read_chat(body_of(server.chat(body)));
  EXPECT_EQ(said.calls, std::vector<std::string>{"now{}"});
  EXPECT_EQ(said.end, "tool_calls");
}

// As with OpenAI: log-probabilities are those of the answer's text.
TEST(ToolCalls, HaveNoLogprobs) {
  TestServer server(call_tools);
  server.engine.say("Look: " + kNow);
  Json body = chat_question();
  body["logprobs"] = true;
  const Json reply = body_of(server.chat(body));
  std::string spelled;
  for (const Json& entry : reply["choices"][0]["logprobs"]["content"]) spelled += entry["token"];
  EXPECT_TRUE(spelled.starts_with("Look:")) << spelled;
  EXPECT_EQ(spelled.find("tool_call"), spelled.npos) << spelled;
  body["stream"] = true;
  std::string streamed;
  for (const std::string& event : server.chat(body).events()) {
    if (event == "[DONE]") continue;
    const Json choice = (*parse_json(event))["choices"][0];
    if (choice["logprobs"].is_null()) continue;
    for (const Json& entry : choice["logprobs"]["content"]) streamed += entry["token"];
  }
  EXPECT_EQ(streamed, spelled);
}

TEST(ToolCalls, OfChoicesDoNotMix) {
  TestServer server(call_tools);
  server.engine.say(kWeather + kNow);
  Json body = chat_question();
  body["n"] = 3;
  std::set<std::string> ids;
  const Json reply = body_of(server.chat(body));
  for (const Json& choice : reply["choices"]) {
    ASSERT_EQ(choice["message"]["tool_calls"].size(), 2u);
    EXPECT_TRUE(choice["message"]["content"].is_null());
    for (const Json& call : choice["message"]["tool_calls"]) ids.insert(call["id"]);
  }
  EXPECT_EQ(ids.size(), 6u);
}

TEST(ToolCalls, AreShownToTheModelWhereAKeptResponseGoesOn) {
  TestServer server(call_tools);
  server.engine.say(kWeather);
  const Json first = body_of(server.post("/v1/responses", responses_question()));
  const Json& call = first["output"][0];
  server.engine.say("It is sunny.");
  const Json result = {{"type", "function_call_output"}, {"call_id", call["call_id"]}, {"output", "sunny"}};
  Json body = responses_question();
  body["previous_response_id"] = first["id"];
  body["input"] = Json::array({result});
  EXPECT_EQ(read_response(body_of(server.post("/v1/responses", body))).text, "It is sunny.");
  const std::string prompt = last_prompt(server.engine);
  EXPECT_NE(prompt.find(kWeather + "<|end|>\n<|tool|>sunny<|end|>"), prompt.npos) << prompt;
}

}  // namespace
}  // namespace tempo9::server
