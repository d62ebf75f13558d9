// What a request asks of a reply's form, in every dialect, to the grammar that the engine is given.
#include <gtest/gtest.h>

#include "grammar/matcher.h"
#include "server/testing/test_server.h"

namespace tempo9::server {
namespace {

using namespace testing;

constexpr TokenId kEnd = 256;  // of the fake engine's tokenizer

// Whether the last request's reply may be `text`, and whether it may end there.
bool may_reply(const FakeEngine& engine, std::string_view text) {
  auto matcher = grammar::Matcher::make(engine.requests().back().grammar);
  if (!matcher) return false;
  for (const unsigned char byte : text)
    if (!matcher->accept(byte)) return false;
  const auto allowed = matcher->allowed();
  return allowed && ((*allowed)[kEnd / 32] >> kEnd % 32 & 1) != 0;
}

const Json kSchema = {
    {"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}, {"required", {"n"}}};
const Json kUnique = {{"type", "object"},
                      {"properties", {{"a/b", {{"type", "array"}, {"uniqueItems", true}}}}}};

struct Dialect {
  const char* path;
  const char* field;
  Json (*ask)(const Json& schema);
};

const Dialect kDialects[] = {
    {"/v1/chat/completions", "response_format",
     [](const Json& schema) {
       return chat_body({{"response_format",
                          {{"type", "json_schema"}, {"json_schema", {{"name", "n"}, {"schema", schema}}}}}});
     }},
    {"/v1/completions", "response_format",
     [](const Json& schema) {
       return Json{{"prompt", "p"},
                   {"response_format", {{"type", "json_schema"}, {"json_schema", {{"schema", schema}}}}}};
     }},
    {"/v1/responses", "text.format",
     [](const Json& schema) {
       return Json{{"input", "i"},
                   {"text", {{"format", {{"type", "json_schema"}, {"name", "n"}, {"schema", schema}}}}}};
     }},
    {"/v1/messages", "output_config.format",
     [](const Json& schema) {
       return chat_body({{"max_tokens", 9},
                         {"output_config", {{"format", {{"type", "json_schema"}, {"schema", schema}}}}}});
     }},
    {"/api/chat", "format",
     [](const Json& schema) {
       return chat_body({{"format", schema}, {"stream", false}});
     }},
};

TEST(Forms, ReachTheEngineFromEveryDialect) {
  for (const Dialect& dialect : kDialects) {
    TestServer server;
    EXPECT_EQ(server.post(dialect.path, dialect.ask(kSchema)).status, 200) << dialect.path;
    ASSERT_NE(server.engine.requests().back().grammar, nullptr) << dialect.path;
    EXPECT_TRUE(may_reply(server.engine, R"({"n": 1})")) << dialect.path;
    EXPECT_FALSE(may_reply(server.engine, "{}")) << dialect.path;
  }
}

TEST(Forms, AreRefusedByFieldPlaceAndKeyword) {
  for (const Dialect& dialect : kDialects) {
    TestServer server;
    const Answer answer = server.post(dialect.path, dialect.ask(kUnique));
    EXPECT_EQ(answer.status, 400) << dialect.path;
    const std::string wanted = fmt::format(
        "{}: the keyword 'uniqueItems' at /properties/a~1b/uniqueItems cannot be kept", dialect.field);
    EXPECT_NE(answer.body.find(wanted), std::string::npos) << answer.body;
    EXPECT_TRUE(server.engine.requests().empty());
  }
}

TEST(Forms, AnyJsonIsAnObject) {
  TestServer server;
  EXPECT_EQ(server.chat(chat_body({{"response_format", {{"type", "json_object"}}}})).status, 200);
  EXPECT_TRUE(may_reply(server.engine, R"({"a": [1, null]})"));
  EXPECT_FALSE(may_reply(server.engine, "[]"));
  EXPECT_EQ(server.post("/api/generate", {{"prompt", "p"}, {"format", "json"}, {"stream", false}}).status,
            200);
  EXPECT_TRUE(may_reply(server.engine, "{}"));
}

TEST(Forms, LeaveOtherRepliesFree) {
  TestServer server;
  EXPECT_EQ(server.chat(chat_body({{"response_format", {{"type", "text"}}}})).status, 200);
  EXPECT_EQ(server.engine.requests().back().grammar, nullptr);
}

TEST(Forms, BeginBehindTheThinking) {
  TestServer server(think);
  EXPECT_EQ(server.chat(chat_body({{"response_format", {{"type", "json_object"}}}})).status, 200);
  EXPECT_TRUE(may_reply(server.engine, "so {\n</think>\n\n{}"));
  EXPECT_FALSE(may_reply(server.engine, "{}"));
  const Json direct = {{"response_format", {{"type", "json_object"}}}, {"reasoning_effort", "none"}};
  EXPECT_EQ(server.chat(chat_body(direct)).status, 200);
  EXPECT_TRUE(may_reply(server.engine, "{}"));
}

// Calls as Hermes and Qwen write them.
void call(ServerOptions&, FakeEngine& engine) {
  engine.model().chat_template =
      "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for m in messages %}<|{{ m.role }}|>{{ "
      "m.content }}"
      "{% for c in m.tool_calls or [] %}\n<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": "
      "{{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}<|end|>\n{% endfor %}<|assistant|>";
}

Json with_tools(const Json& more, bool strict = false) {
  const Json find = {{"name", "find"}, {"parameters", kSchema}, {"strict", strict}};
  const Json stop = {{"name", "stop"}};
  Json body = chat_body(
      {{"tools", {{{"type", "function"}, {"function", find}}, {{"type", "function"}, {"function", stop}}}}});
  body.update(more);
  return body;
}

constexpr std::string_view kFind =
    "<tool_call>\n{\"name\": \"find\", \"arguments\": {\"n\": 1}}\n</tool_call>";
constexpr std::string_view kWrong = "<tool_call>\n{\"name\": \"find\", \"arguments\": {}}\n</tool_call>";
constexpr std::string_view kStop = "<tool_call>\n{\"name\": \"stop\", \"arguments\": {}}\n</tool_call>";

std::string join(std::string_view a, std::string_view b) {
  return fmt::format("{}\n{}", a, b);
}

TEST(Forms, DemandACall) {
  TestServer server(call);
  EXPECT_EQ(server.chat(with_tools({{"tool_choice", "required"}})).status, 200);
  EXPECT_TRUE(may_reply(server.engine, kFind) && may_reply(server.engine, kStop));
  EXPECT_TRUE(may_reply(server.engine, join(kFind, kStop)));
  EXPECT_FALSE(may_reply(server.engine, "Hello") || may_reply(server.engine, "") ||
               may_reply(server.engine, kWrong));
  EXPECT_EQ(server.chat(with_tools({{"tool_choice", "required"}, {"parallel_tool_calls", false}})).status,
            200);
  EXPECT_TRUE(may_reply(server.engine, kFind));
  EXPECT_FALSE(may_reply(server.engine, join(kFind, kStop)));
}

TEST(Forms, DemandACallOfOneTool) {
  TestServer server(call);
  const Json choice = {{"tool_choice", {{"type", "function"}, {"function", {{"name", "stop"}}}}}};
  EXPECT_EQ(server.chat(with_tools(choice)).status, 200);
  EXPECT_TRUE(may_reply(server.engine, kStop));
  EXPECT_FALSE(may_reply(server.engine, kFind));
  const Json body = {{"model", "m"},
                     {"max_tokens", 9},
                     {"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                     {"tools", {{{"name", "find"}, {"input_schema", kSchema}}}},
                     {"tool_choice", {{"type", "any"}}}};
  EXPECT_EQ(server.post("/v1/messages", body).status, 200);
  EXPECT_TRUE(may_reply(server.engine, kFind));
  EXPECT_FALSE(may_reply(server.engine, "text"));
}

TEST(Forms, HoldStrictToolsToTheirSchemasWheneverTheyAreCalled) {
  TestServer server(call);
  EXPECT_EQ(server.chat(with_tools(Json::object(), true)).status, 200);
  EXPECT_TRUE(may_reply(server.engine, "Hello <b>"));
  EXPECT_TRUE(may_reply(server.engine, join(join("Let me see.", kFind), kStop)));
  EXPECT_FALSE(may_reply(server.engine, join("Let me see.", kWrong)));
  EXPECT_EQ(server.chat(with_tools(Json::object())).status, 200);
  EXPECT_EQ(server.engine.requests().back().grammar, nullptr);
}

// A free-form tool in Chat and in Responses.
Json with_grammar(bool chat, const Json& grammar) {
  if (!chat) {
    Json tool = {{"type", "custom"}, {"name", "note"}, {"format", {{"type", "grammar"}}}};
    tool["format"].update(grammar);
    return {{"input", "i"}, {"tools", {tool}}};
  }
  const Json format = {{"type", "grammar"}, {"grammar", grammar}};
  return chat_body({{"tools", {{{"type", "custom"}, {"custom", {{"name", "note"}, {"format", format}}}}}}});
}

std::string note(std::string_view input) {
  return fmt::format(
      "<tool_call>\n{{\"name\": \"note\", \"arguments\": {{\"input\": \"{}\"}}}}\n</tool_call>", input);
}

TEST(Forms, HoldFreeFormToolsToTheirGrammarsWheneverTheyAreCalled) {
  const Json grammars[] = {{{"syntax", "lark"}, {"definition", "start: (/[a-z\"]+/ \"\\n\")+"}},
                           {{"syntax", "regex"}, {"definition", "([a-z\"]+\\n)+"}}};
  for (const bool chat : {true, false})
    for (const Json& grammar : grammars) {
      TestServer server(call);
      const Answer answer =
          server.post(chat ? "/v1/chat/completions" : "/v1/responses", with_grammar(chat, grammar));
      ASSERT_EQ(answer.status, 200) << answer.body;
      EXPECT_TRUE(may_reply(server.engine, join("Any text.", note("ab\\nc\\\"d\\n"))));
      EXPECT_TRUE(may_reply(server.engine, "No call."));
      for (const char* wrong : {"", "ab", "AB\\n", "ab\\n\\n"})
        EXPECT_FALSE(may_reply(server.engine, note(wrong))) << wrong;
    }
}

TEST(Forms, NameTheToolWhoseGrammarIsWrong) {
  for (const bool chat : {true, false}) {
    TestServer server(call);
    const Json grammar = {{"syntax", "lark"}, {"definition", "start: missing"}};
    const Answer answer =
        server.post(chat ? "/v1/chat/completions" : "/v1/responses", with_grammar(chat, grammar));
    EXPECT_EQ(answer.status, 400);
    EXPECT_NE(answer.body.find("tool 'note': Lark error"), std::string::npos) << answer.body;
    EXPECT_NE(answer.body.find("missing"), std::string::npos) << answer.body;
    const Answer other = server.post(chat ? "/v1/chat/completions" : "/v1/responses",
                                     with_grammar(chat, {{"syntax", "gbnf"}, {"definition", "root ::= a"}}));
    EXPECT_EQ(other.status, 400);
    EXPECT_NE(other.body.find("'gbnf' is not one of lark, regex"), std::string::npos) << other.body;
  }
}

TEST(Forms, NameTheToolWhoseSchemaCannotBeKept) {
  TestServer server(call);
  const Json tool = {{"name", "odd"}, {"parameters", kUnique}, {"strict", true}};
  const Answer answer = server.chat(chat_body({{"tools", {{{"type", "function"}, {"function", tool}}}}}));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("tool 'odd': the keyword 'uniqueItems' at /properties/a~1b/uniqueItems"),
            std::string::npos)
      << answer.body;
}

TEST(Forms, RefuseToDemandACallThatNobodyKnowsHowToWrite) {
  TestServer server;
  const Answer answer = server.chat(with_tools({{"tool_choice", "required"}}));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("it is not known how this model calls tools"), std::string::npos) << answer.body;
  EXPECT_NE(answer.body.find("tool_choice"), std::string::npos) << answer.body;
}

}  // namespace
}  // namespace tempo9::server
