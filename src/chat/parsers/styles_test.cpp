// Replies in the styles of the families.
#include "chat/parsers/styles.h"

#include <gtest/gtest.h>

#include <string>

#include "chat/testing/expect_replies.h"

namespace tempo9::chat {
namespace {

using testing::expect_all;
using testing::expect_text;
using testing::hear;
using testing::Listener;
using testing::listener_for;

const Listener kXml = listener_for("qwen xml");

std::string xml(std::string_view name, std::string_view parameters) {
  return "<tool_call>\n<function=" + std::string(name) + ">\n" + std::string(parameters) +
         "</function>\n</tool_call>";
}

std::string parameter(std::string_view name, std::string_view value) {
  return "<parameter=" + std::string(name) + ">\n" + std::string(value) + "\n</parameter>\n";
}

TEST(QwenXml, ValuesHaveTheSchemasTypes) {
  const std::string two =
      "I look.\n\n" +
      xml("create", parameter("path", "a.cpp") + parameter("content", "if (a < b) {\n  x(\"</\");\n}\n")) +
      "\n" +
      xml("weather", parameter("city", "5") + parameter("days", "3") + parameter("metric", "True") +
                         parameter("ratio", "2.50") + parameter("place", "{\"a\": [1, {\"b\": null}]}") +
                         parameter("tags", "[\"x\"]") + parameter("note", "null"));
  expect_all(kXml, {{two,
                     "T[I look.]C[create{\"path\": \"a.cpp\", \"content\": \"if (a < b) {\\n  "
                     "x(\\\"</\\\");\\n}\\n\"}]C[weather{\"city\": \"5\", \"days\": 3, \"metric\": true, "
                     "\"ratio\": 2.50, \"place\": {\"a\": [1, {\"b\": null}]}, \"tags\": [\"x\"], "
                     "\"note\": null}]"}});
  const std::string odd = xml("weather", parameter("days", "soon") + parameter("note", "null and void") +
                                             parameter("unknown", "7") + parameter("city", "null"));
  expect_all(kXml,
             {{odd, R"(C[weather{"days": "soon", "note": "null and void", "unknown": 7, "city": "null"}])"},
              {xml("stop", ""), "C[stop{}]"},
              {"<tool_call><function=create><parameter=content>a</parameter></function></tool_call>",
               R"(C[create{"content": "a"}])"},
              {xml("create", parameter("content", "")), R"(C[create{"content": ""}])"},
              {xml("create", parameter("content", "\n\n")), R"(C[create{"content": "\n\n"}])"}});
}

TEST(QwenXml, AValueMaySpeakOfTags) {
  const std::string value = "</parameter> ends it, <parameter=x> begins one\n</parameter>\nand </function>";
  expect_all(kXml,
             {{xml("create", parameter("content", value)),
               R"(C[create{"content": "</parameter> ends it, <parameter=x> begins one\n</parameter>\nand )"
               R"(</function>"}])"}});
}

TEST(QwenXml, FaultsAreText) {
  const std::string undeclared = xml("erase", parameter("a", "b")),
                    no_end = xml("create", "<parameter=a>\nb\n"),
                    twice = xml("create", parameter("a", "1") + parameter("a", "2")),
                    words = xml("create", "words\n");
  expect_text(kXml, CallFault::kUndeclared, {undeclared, "So:\n\n" + undeclared});
  expect_text(kXml, CallFault::kMalformed,
              {twice, words, "<tool_call>\n{\"name\": \"stop\", \"arguments\": {}}\n</tool_call>",
               "<tool_call>\n<function=>\n</function>\n</tool_call>"});
  expect_text(kXml, CallFault::kUnclosed, {no_end, "<tool_call>\n<function=stop>\n</function>\n"});
}

const Listener kGemma = listener_for("gemma");

TEST(Gemma, ReadsItsNotationAndJson) {
  expect_all(
      kGemma,
      {{"<|tool_call>call:create{content:<|\"|>has } brace<|\"|>}<tool_call|>",
        R"(C[create{"content": "has } brace"}])"},
       {R"(<|tool_call>call:create{"content":"has } brace"}<tool_call|>)",
        R"(C[create{"content": "has } brace"}])"},
       {R"(<|tool_call>call:create{content:'has } "brace"'}<tool_call|>)",
        R"(C[create{"content": "has } \"brace\""}])"},
       {"Well.<|tool_call>call:weather{city:<|\"|>a\nb\"c\\d<|\"|>,days:3,metric:true,place:{<|\"|>k<|\"|>:[{"
        "x:"
        "<|\"|>y<|\"|>},null,-1.5e3]},tags:[]}<tool_call|><|tool_call>call:stop{}<tool_call|>",
        R"(T[Well.]C[weather{"city": "a\nb\"c\\d", "days": 3, "metric": true, "place": {"k": [{"x": "y"}, null, )"
        R"(-1.5e3]}, "tags": []}]C[stop{}])"},
       {R"(<|tool_call>call:weather{tags:["a",'b',<|"|>c<|"|>,d e]}<tool_call|>)",
        R"(C[weather{"tags": ["a", "b", "c", "d e"]}])"},
       // Words without quotes, by the schema.
       {"<|tool_call>call:weather{city:12,days:<|\"|>3<|\"|>,note:Rome}<tool_call|>",
        R"(C[weather{"city": "12", "days": 3, "note": "Rome"}])"}});
}

TEST(Gemma, FaultsAreText) {
  expect_text(kGemma, CallFault::kUndeclared, {"<|tool_call>call:erase{a:1}<tool_call|>"});
  expect_text(kGemma, CallFault::kMalformed,
              {"<|tool_call>call:create{content:<|\"|>a<|\"|><tool_call|>", "<|tool_call>stop{}<tool_call|>",
               "<|tool_call>call:create{content:<|\"|>a<|\"|> b}<tool_call|>",
               "<|tool_call>call:create{a:1,a:2}<tool_call|>"});
  expect_text(kGemma, CallFault::kUnclosed,
              {"<|tool_call>call:create{content:<|\"|>a}<tool_call|>", "<|tool_call>call:stop{}"});
}

TEST(Gemma, ThinksOnAChannel) {
  const ThinkingTags* tags = find_thinking_tags("'<|channel>thought\\n' + t + '\\n<channel|>'");
  ASSERT_NE(tags, nullptr);
  for (const bool controls : {false, true}) {
    Listener listener = kGemma;
    listener.start.tags = tags;
    if (controls) listener.controls = list_markers(listener.start);
    expect_all(listener, {{"<|channel>thought\nhm\n<channel|>Yes.", "R[hm]T[Yes.]"},
                          {"<|channel>thought\n<channel|><|tool_call>call:stop{}<tool_call|>", "C[stop{}]"},
                          {"<|channel>thought\ncut", "R[cut]"}});
  }
}

TEST(Mistral, BothForms) {
  for (const bool controls : {false, true})
    for (const std::string_view style : {"mistral", "mistral array"}) {
      Listener listener = listener_for(style);
      if (controls) listener.controls = list_markers(listener.start);
      expect_all(
          listener,
          {{R"([TOOL_CALLS]weather[ARGS]{"city": "Rome"})", R"(C[weather{"city": "Rome"}])"},
           {R"(So [TOOL_CALLS]weather[CALL_ID]abc123XYZ[ARGS]{"city": "[}"}[TOOL_CALLS]stop[ARGS]{})",
            R"(T[So ]C[weather{"city": "[}"}]C[stop{}])"},
           {R"([TOOL_CALLS] [{"name": "weather", "arguments": {"city": "]"}, "id": "abc123XYZ"}, {"name": "stop", )"
            R"("arguments": {}}])",
            R"(C[weather{"city": "]"}]C[stop{}])"},
           {R"([TOOL_CALLS]{"name": "stop", "arguments": {}})", "C[stop{}]"}});
      expect_text(
          listener, CallFault::kUndeclared,
          {R"([TOOL_CALLS]erase[ARGS]{"a": "b"})", R"([TOOL_CALLS][{"name": "erase", "arguments": {}}])"});
      expect_text(
          listener, CallFault::kMalformed,
          {"[TOOL_CALLS]stop[ARGS]{]}", "[TOOL_CALLS]stop()", "[TOOL_CALLS] \"stop\"", "[TOOL_CALLS][]"});
      expect_text(listener, CallFault::kUnclosed,
                  {R"([TOOL_CALLS]weather[ARGS]{"city": "Ro)", "[TOOL_CALLS]", "[TOOL_CALLS]stop"});
      expect_all(listener, {{R"([TOOL_CALLS][{"name": "stop", "arguments": {}}, {"name": "weather", "argum)",
                             R"(C[stop{}]T[, {"name": "weather", "argum])"}});
    }
}

TEST(Llama, JsonIsTheWholeReply) {
  for (const bool controls : {false, true}) {
    Listener listener = listener_for("llama json");
    if (controls) listener.controls = list_markers(listener.start);
    expect_all(listener,
               {{R"({"name": "weather", "parameters": {"city": "Rome"}})", R"(C[weather{"city": "Rome"}])"},
                {R"(<|python_tag|>{"type": "function", "name": "stop", "parameters": {}})", "C[stop{}]"},
                {R"({"name": "stop", "parameters": {}}; {"name": "weather", "arguments": {"city": "a"}})",
                 R"(C[stop{}]C[weather{"city": "a"}])"},
                {R"({"name": "stop", "parameters": {}}; and so on)", "C[stop{}]T[; and so on]"},
                {R"({"name": "stop", "parameters": {}})"
                 "\n",
                 "C[stop{}]"},
                {R"({"answer": {"name": "stop"}})", R"(T[{"answer": {"name": "stop"}}])"},
                {R"(Use {"name": "stop", "parameters": {}})", R"(T[Use {"name": "stop", "parameters": {}}])"},
                {R"(Now <|python_tag|>{"name": "stop", "parameters": {}})", "T[Now ]C[stop{}]"},
                {"  plain\n", "T[  plain\n]"}});
    expect_text(listener, CallFault::kUndeclared, {R"({"name": "erase", "parameters": {}})"});
    expect_text(listener, CallFault::kMalformed,
                {R"({"name": "weather", "parameters": {"city": Rome}})", "<|python_tag|>print(1)"});
    expect_text(listener, CallFault::kUnclosed, {R"({"name": "weather", "parameters": {"city": "Ro)"});
  }
}

TEST(Llama, PythonicCalls) {
  const Listener listener = listener_for("llama pythonic");
  expect_all(
      listener,
      {{R"([weather(city="Rome", days=3, metric=True, place={'a': None, "b": [1, 2.5,],}, tags=("x", 'y'))])",
        R"(C[weather{"city": "Rome", "days": 3, "metric": true, "place": {"a": null, "b": [1, 2.5]}, "tags": )"
        R"(["x", "y"]}])"},
       {R"([stop(), create(content='it\'s "so"\n)]')])",
        R"(C[stop{}]C[create{"content": "it's \"so\"\n)]"}])"},
       {R"([weather(days="3", city=5, ratio="0.5", note=None)])",
        R"(C[weather{"days": 3, "city": "5", "ratio": 0.5, "note": null}])"},
       {"[create(content=\"\"\"a\n\"b\" \\d\"\"\", path='')]",
        R"(C[create{"content": "a\n\"b\" \\d", "path": ""}])"},
       {"[1] says so", "T[[1] says so]"},
       {"[see below]", "T[[see below]]"},
       {"[stop()] Done.", "C[stop{}]T[ Done.]"},
       {"[erase(a=1), stop()]", "T[[erase(a=1)]C[stop{}]T[]]"}});
  expect_text(listener, CallFault::kUndeclared, {"[erase(a=1)]", "[erase(a)]"});
  expect_text(listener, CallFault::kMalformed,
              {"[weather(city=Rome)]", "[weather('Rome')]", "[stop(]", "[weather(days=1, days=2)]"});
  expect_text(listener, CallFault::kUnclosed, {"[weather(city=\"Ro", "[stop("});
}

Listener harmony(bool controls) {
  Listener listener = listener_for("harmony");
  listener.start.tail = "<|end|><|start|>assistant";
  if (controls) listener.controls = list_markers(listener.start);
  return listener;
}

constexpr std::string_view kToWeather =
    "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\": \"<|end\"}";

TEST(Harmony, ChannelsAndCalls) {
  const std::string call(kToWeather);
  for (const bool controls : {false, true})
    expect_all(
        harmony(controls),
        {{"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
          "R[hm]T[Yes.]"},
         {"<|channel|>final<|message|>Yes.\n", "T[Yes.\n]"},
         {"<|message|>Yes.", "T[Yes.]"},
         {call, R"(C[weather{"city": "<|end"}])"},
         {call + "<|call|>", R"(C[weather{"city": "<|end"}])"},
         {"<|channel|>analysis<|message|>I call.<|end|><|start|>assistant" + call,
          R"(R[I call.]C[weather{"city": "<|end"}])"},
         // The recipient behind the role, as templates have it.
         {" to=functions.stop<|channel|>commentary json<|message|>{}", "C[stop{}]"},
         {"<|channel|>analysis<|message|>a<|end|><|start|>assistant to=functions.stop<|channel|>commentary "
          "<|constrain|>json<|message|>{}",
          "R[a]C[stop{}]"},
         // Text for the user, two calls, two thoughts.
         {"<|channel|>commentary<|message|>I look.<|end|><|start|>assistant" + call +
              "<|end|><|start|>assistant" + "<|channel|>commentary to=functions.stop<|message|> {} <|call|>",
          R"(T[I look.]C[weather{"city": "<|end"}]C[stop{}])"},
         {"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>"
          "<|start|>assistant<|channel|>commentary<|message|>c<|end|><|start|>assistant<|channel|>final<|"
          "message|>d",
          "R[a\n\nb]T[c\n\nd]"},
         // No channels at all, or none at first; a message that another one ends.
         {"Plain answer to you.", "T[Plain answer to you.]"},
         {" to be or not", "T[ to be or not]"},
         {"Hello<|end|><|start|>assistant<|channel|>final<|message|>Bye", "T[Hello\n\nBye]"},
         {"<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "R[a]T[b]"}});
}

TEST(Harmony, FaultsAreText) {
  for (const bool controls : {false, true}) {
    expect_text(harmony(controls), CallFault::kUndeclared,
                {"<|channel|>commentary to=functions.erase <|constrain|>json<|message|>{\"a\": 1}<|call|>",
                 " to=python<|channel|>analysis<|message|>print(1)"});
    expect_text(harmony(controls), CallFault::kMalformed,
                {"<|channel|>commentary to=functions.stop<|message|>now<|call|>",
                 "<|channel|>commentary to=functions.stop<|message|>{} or so<|end|>"});
    expect_text(harmony(controls), CallFault::kUnclosed,
                {"<|channel|>commentary to=functions.weather<|message|>{\"city\": "});
    expect_all(harmony(controls), {{"<|channel|>final", "T[<|channel|>final]"},
                                   {"<|start|>user<|message|>hi", "T[<|start|>user<|message|>hi]"}});
  }
}

TEST(Harmony, WhatALimitCuts) {
  for (const bool controls : {false, true}) {
    Listener listener = harmony(controls);
    listener.cut = true;
    const std::string call(kToWeather);
    expect_all(listener, {{"<|channel|>analysis<|message|>hm", "R[hm]"},
                          {"<|channel|>analysis", ""},
                          {" to=functions.we", "T[ to=functions.we]"},
                          {"<|channel|>commentary to=functions.weather",
                           "T[<|channel|>commentary to=functions.weather]"},
                          {call, "T[" + call + "]"}});
  }
}

TEST(Harmony, ChannelsAreReadWithoutTools) {
  Listener listener = harmony(true);
  listener.tools.clear();
  const std::string call(kToWeather);
  EXPECT_EQ(hear(listener, "<|channel|>analysis<|message|>hm<|end|><|start|>assistant" + call),
            "R[hm]T[<|start|>assistant" + call + "]");
  EXPECT_EQ(listener.faults, CallFaults{});
  // A prompt that ends within a message is gone on with.
  listener.start.tail = "";
  EXPECT_EQ(hear(listener, "and so on<|end|>"), "T[and so on]");
}

TEST(Styles, AreFoundByWhatIsShown) {
  const auto found = [](std::string_view shown) {
    const CallStyle* style = find_call_style(shown, "f");
    return style == nullptr ? std::string_view() : style->name;
  };
  EXPECT_EQ(found("<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>"), "hermes");
  EXPECT_EQ(found("<tool_call>\n<function=f>\n</function>"), "qwen xml");
  EXPECT_EQ(found("<|tool_call>call:f{}<tool_call|>"), "gemma");
  EXPECT_EQ(found("<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}"), "harmony");
  EXPECT_EQ(found("[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}]"), "mistral array");
  EXPECT_EQ(found("[TOOL_CALLS]f[ARGS]{}"), "mistral");
  EXPECT_EQ(found("{\"name\": \"f\", \"parameters\": {}}"), "llama json");
  EXPECT_EQ(found("[f(a=1)]"), "llama pythonic");
  EXPECT_EQ(found("<tool_call>f\n<arg_key>a</arg_key>"), "");
}

}  // namespace
}  // namespace tempo9::chat
