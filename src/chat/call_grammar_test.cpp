// What a reply may be where a tool is strict or has a grammar of its own, in every style of calls; and what
// its parser makes of that.
#include "chat/call_grammar.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "chat/parsers/styles.h"
#include "chat/reply_parser.h"
#include "grammar/testing/acceptance.h"

namespace tempo9::chat {
namespace {

using grammar::testing::Acceptance;

const Json kSchema = Json::parse(R"({"type": "object",
  "properties": {
    "n": {"type": "integer", "minimum": 1},
    "s": {"type": "string", "maxLength": 12},
    "flags": {"type": "array", "items": {"type": ["boolean", "null"]}},
    "o": {"type": "object", "properties": {"a": {"enum": ["b", true]}}, "required": ["a"]}},
  "required": ["n", "s"]})");
const Json kArguments = Json::parse(R"({"n": 3, "s": "x } (y) \"", "flags": [true, null], "o": {"a": "b"}})");

std::vector<Tool> tools() {
  std::vector<Tool> tools(3);
  tools[0].name = "find", tools[0].parameters = kSchema, tools[0].strict = true;
  tools[1].name = "note",
  tools[1].format = {{"syntax", "lark"}, {"definition", "start: (/[a-z\"]+/ \"\\n\")+"}};
  tools[1].kind = Tool::Kind::kFreeform;
  tools[2].name = "stop";
  return tools;
}

struct Case {
  const char* style;
  const char* find;                // a call of it with kArguments
  std::vector<const char*> wrong;  // one whose arguments the schema does not accept
  const char* note;                // with the text "ab\nc\"d\n"
  const char* wrong_note;
  std::vector<const char*> texts;  // no calls
  const char* tail = "";
};

const Case kCases[] = {
    {"hermes",
     "Look:\n<tool_call>\n{\"name\": \"find\", \"arguments\": {\"n\": 3, \"s\": \"x } (y) \\\"\", \"flags\": "
     "[true, "
     "null], \"o\": {\"a\": \"b\"}}}\n</tool_call>",
     {"<tool_call>\n{\"name\": \"find\", \"arguments\": {\"n\": 0, \"s\": \"\"}}\n</tool_call>"},
     "<tool_call>\n{\"name\": \"note\", \"arguments\": {\"input\": \"ab\\nc\\\"d\\n\"}}\n</tool_call>",
     "<tool_call>\n{\"name\": \"note\", \"arguments\": {\"input\": \"AB\\n\"}}\n</tool_call>",
     {"", "Text < {\"name\": 1}."}},
    {"qwen xml",
     "<tool_call>\n<function=find>\n<parameter=n>\n3\n</parameter>\n<parameter=s>\nx } (y) \"\n</parameter>\n"
     "<parameter=flags>\n[true, null]\n</parameter>\n<parameter=o>\n{\"a\": "
     "\"b\"}\n</parameter>\n</function>\n"
     "</tool_call>",
     {"<tool_call>\n<function=find>\n<parameter=n>\n3\n</parameter>\n<parameter=s>\nmore than 12 of them\n"
      "</parameter>\n</function>\n</tool_call>"},
     "<tool_call>\n<function=note>\n<parameter=input>\nab\nc\"d\n\n</parameter>\n</function>\n</tool_call>",
     "<tool_call>\n<function=note>\n<parameter=input>\nAB\n\n</parameter>\n</function>\n</tool_call>",
     {"", "Text <b>."}},
    {"gemma",
     "<|tool_call>call:find{n:3,s:<|\"|>x } (y) \"<|\"|>,flags:[true,null],o:{a:<|\"|>b<|\"|>}}<tool_call|>",
     {"<|tool_call>call:find{n:3}<tool_call|>",
      "<|tool_call>call:find{n:3,s:<|\"|>more than 12 of "
      "them<|\"|>}<tool_call|>",
      "<|tool_call>call:find{n:3,s:<|\"|><|\"|>,o:{a:<|\"|>c<|\"|>}}<tool_call|>"},
     "<|tool_call>call:note{input:<|\"|>ab\nc\"d\n<|\"|>}<tool_call|>",
     "<|tool_call>call:note{input:<|\"|>AB\n<|\"|>}<tool_call|>",
     {"", "Text {n:3}."}},
    {"harmony",
     "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.find "
     "<|constrain|>json<|message|>{\"n\": 3, \"s\": \"x } (y) \\\"\", \"flags\": [true, null], \"o\": "
     "{\"a\": "
     "\"b\"}}",
     {"<|channel|>commentary to=functions.find <|constrain|>json<|message|>{\"n\": 3}",
      " to=functions.find<|channel|>commentary json<|message|>{\"n\": 3}",
      "<|channel|>commentary to=functions.other<|message|>{}"},
     " to=functions.note<|channel|>commentary json<|message|>{\"input\": \"ab\\nc\\\"d\\n\"}",
     "<|channel|>analysis to=functions.note<|message|>{\"input\": \"AB\\n\"}",
     {"<|channel|>final<|message|>Text.",
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary<|message|>I "
      "look.<|end|>"
      "<|start|>assistant<|channel|>final<|message|>Done."},
     "<|start|>assistant"},
    {"mistral",
     "Look.[TOOL_CALLS]find[ARGS]{\"n\": 3, \"s\": \"x } (y) \\\"\", \"flags\": [true, null], \"o\": {\"a\": "
     "\"b\"}}",
     {"[TOOL_CALLS]find[ARGS]{\"n\": 3}"},
     "[TOOL_CALLS]note[ARGS]{\"input\": \"ab\\nc\\\"d\\n\"}",
     "[TOOL_CALLS]note[ARGS]{\"input\": \"AB\\n\"}",
     {"", "Text [1]."}},
    {"llama json",
     "{\"name\": \"find\", \"parameters\": {\"n\": 3, \"s\": \"x } (y) \\\"\", \"flags\": [true, null], "
     "\"o\": "
     "{\"a\": \"b\"}}}",
     {"{\"name\": \"find\", \"parameters\": {\"n\": 3}}", " {\n\"name\":\"find\",\"parameters\":{\"n\":3}}",
      "{\"parameters\": {}, \"name\": \"find\"}"},
     "{\"name\": \"note\", \"parameters\": {\"input\": \"ab\\nc\\\"d\\n\"}}",
     "{\"name\": \"note\", \"parameters\": {\"input\": \"AB\\n\"}}",
     {"", " ", "Text {\"name\": \"find\"}.", "{\"city\": 1}", "{", "{}", "{\"na"}},
    {"llama pythonic",
     "[find(n=3, s=\"x } (y) \\\"\", flags=[True, None], o={\"a\": \"b\"})]",
     {"[find(n=3)]", "[find(s=\"\", n=3)]", "[find(n=3, s=\"\", flags=[true])]", "[ find(n=\"3\", s=\"\")]",
      "\n[find(n=3, s='')]"},
     "[note(input=\"ab\\nc\\\"d\\n\")]",
     "[note(input=\"AB\\n\")]",
     {"", "Text [find(n=3)].", "[1](link)", "[finder(", "[fin", "[ ]"}},
};

ReplyStart start_of(const Case& own) {
  ReplyStart start;
  for (const CallStyle& style : call_styles())
    if (style.name == own.style) start.style = &style;
  start.tail = own.tail;
  return start;
}

Acceptance held(const Case& own) {
  const std::vector<Tool> declared = tools();
  const auto form = call_form(start_of(own), declared, {}, std::nullopt);
  EXPECT_TRUE(form && *form) << own.style;
  return Acceptance(form && *form ? **form : grammar::Form());
}

// The arguments of the only call in a reply, as text.
std::string call_in(const Case& own, std::string_view text, std::string_view name) {
  const std::vector<Tool> declared = tools();
  ReplyParser parser(start_of(own), declared);
  std::vector<ReplyPiece> pieces = parser.push(text);
  for (ReplyPiece& piece : parser.finish(false)) pieces.push_back(std::move(piece));
  std::string called, arguments;
  for (const ReplyPiece& piece : pieces)
    for (const CallDelta& call : piece.calls) called += call.name, arguments += call.arguments;
  return called == name ? arguments : "not called: " + called;
}

TEST(CallGrammar, HoldsStrictToolsInEveryStyle) {
  for (const Case& own : kCases) {
    const Acceptance grammar = held(own);
    ASSERT_EQ(grammar.error(), "") << own.style;
    EXPECT_TRUE(grammar.accepts(own.find)) << own.find;
    EXPECT_EQ(Json::parse(call_in(own, own.find, "find"), nullptr, false), kArguments) << own.find;
    for (const char* wrong : own.wrong) EXPECT_FALSE(grammar.accepts(wrong)) << wrong;
    for (const char* text : own.texts) EXPECT_TRUE(grammar.accepts(text)) << own.style << ": " << text;
  }
}

TEST(CallGrammar, HoldsFreeFormToolsToTheirGrammarInEveryStyle) {
  for (const Case& own : kCases) {
    const Acceptance grammar = held(own);
    EXPECT_TRUE(grammar.accepts(own.note)) << own.note;
    EXPECT_EQ(Json::parse(call_in(own, own.note, "note"), nullptr, false), Json({{"input", "ab\nc\"d\n"}}))
        << own.note;
    EXPECT_FALSE(grammar.accepts(own.wrong_note)) << own.wrong_note;
    EXPECT_EQ(call_in(own, own.wrong_note, "note").find("not called"), std::string::npos) << own.wrong_note;
  }
}

TEST(CallGrammar, DemandsACallInEveryStyle) {
  const std::vector<Tool> declared = tools();
  for (const Case& own : kCases) {
    CallDemands demands{.required = true};
    const auto form = call_form(start_of(own), declared, demands, std::nullopt);
    ASSERT_TRUE(form && *form) << own.style;
    const Acceptance grammar(**form);
    EXPECT_TRUE(grammar.accepts(own.note)) << own.note;
    for (const char* text : own.texts) EXPECT_FALSE(grammar.accepts(text)) << text;
    demands.only = &declared[2];
    const auto other = call_form(start_of(own), declared, demands, std::nullopt);
    EXPECT_FALSE(Acceptance(**other).accepts(own.note)) << own.note;
  }
}

TEST(CallGrammar, LeavesRepliesFreeWithoutSuchTools) {
  std::vector<Tool> declared(1);
  declared[0].name = "stop";
  for (const Case& own : kCases) {
    const auto form = call_form(start_of(own), declared, {}, std::nullopt);
    EXPECT_TRUE(form && !*form) << own.style;
  }
}

TEST(CallGrammar, PutsAnswersOnTheirChannel) {
  const Case& harmony = kCases[3];
  const auto form = call_form(start_of(harmony), {}, {}, grammar::schema_form({{"type", "integer"}}, "s"));
  ASSERT_TRUE(form && *form);
  const Acceptance grammar(**form);
  EXPECT_TRUE(grammar.accepts(
      "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>12"));
  EXPECT_TRUE(grammar.accepts("12"));
  EXPECT_FALSE(grammar.accepts("<|channel|>final<|message|>twelve"));
}

}  // namespace
}  // namespace tempo9::chat
