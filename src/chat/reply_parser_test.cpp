// What replies become, by the example of one style; parsers/styles_test.cpp has the others.
#include "chat/reply_parser.h"

#include <gtest/gtest.h>

#include "chat/testing/expect_replies.h"

namespace tempo9::chat {
namespace {

using testing::expect_all;
using testing::expect_text;
using testing::hear;
using testing::Heard;
using testing::Listener;
using testing::listener_for;

const ThinkingTags kThink{"<think>", "</think>"};

const Listener kHermes = listener_for("hermes");

TEST(ReplyParser, HermesCalls) {
  expect_all(
      kHermes,
      {{"plain\ntext\n\n", "T[plain\ntext\n\n]"},
       {"<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rome\", \"days\": "
        "3}}\n</tool_call>",
        "C[weather{\"city\": \"Rome\", \"days\": 3}]"},
       {"Let me see.\n<tool_call>\n{\"name\": \"stop\", \"arguments\": {}}\n</tool_call>",
        "T[Let me see.]C[stop{}]"},
       {"See: <tool_call>{\"name\": \"stop\", \"arguments\": {}}</tool_call> Done.\n",
        "T[See: ]C[stop{}]T[ Done.\n]"},
       {"\n\n<tool_call>{\"name\":\"stop\",\"arguments\":{}}</tool_call>\n"
        "<tool_call>{\"name\":\"weather\",\"arguments\":{\"city\":\"a\"}}</tool_call>\n",
        "C[stop{}]C[weather{\"city\":\"a\"}]"},
       // Members in any order, others, none, arguments as a text.
       {R"(<tool_call>{"id": "1", "arguments": {"city": "Rome"}, "name": "weather"}</tool_call>)",
        R"(C[weather{"city": "Rome"}])"},
       {R"(<tool_call>{"name": "stop"}</tool_call>)", "C[stop{}]"},
       {R"(<tool_call>{"name": "stop", "arguments": null}</tool_call>)", "C[stop{}]"},
       {R"(<tool_call>{"name": "weather", "arguments": "{\"city\": \"R\\u00f6\"}"}</tool_call>)",
        R"(C[weather{"city": "R\u00f6"}])"},
       // Marks in a string, a line break in one, escapes.
       {R"(<tool_call>{"name": "create", "arguments": {"content": "</tool_call>}\"<tool_call>"}}</tool_call>)",
        R"(C[create{"content": "</tool_call>}\"<tool_call>"}])"},
       {"<tool_call>{\"name\": \"create\", \"arguments\": {\"content\": \"a\nb\"}}</tool_call>",
        R"(C[create{"content": "a\nb"}])"},
       {R"(<tool_call>{"name": "create", "arguments": {"content": "\ud83d\ude00 漢字"}}</tool_call>)",
        R"(C[create{"content": "\ud83d\ude00 漢字"}])"}});
}

TEST(ReplyParser, HermesFaultsAreText) {
  expect_text(
      kHermes, CallFault::kUndeclared,
      {R"(<tool_call>{"name": "erase", "arguments": {"x": 1}}</tool_call>)",
       "So\n\n<tool_call>\n{\"arguments\": {}, \"name\": \"erase\"}\n</tool_call>\n",
       // What is written within it is not called.
       R"(<tool_call>{"name": "erase", "arguments": {"x": "<tool_call>{\"name\": \"stop\"}</tool_call>"}}</tool_call>)"});
  expect_text(
      kHermes, CallFault::kMalformed,
      {R"(<tool_call>{"name": "weather", "arguments": {"city": Rome}}</tool_call>)",
       R"(<tool_call>{"name": "weather", "arguments": {"city": "Rome"}</tool_call>)",
       R"(<tool_call>{"name": "weather", "arguments": {"city": "Rome",}}</tool_call>)",
       R"(<tool_call>{"name": "weather", "arguments": {"city": "a", "city": "b"}}</tool_call>)",
       R"(<tool_call>{"name": "weather", "arguments": {"ratio": 1e999}}</tool_call>)",
       R"(<tool_call>{"name": "weather", "arguments": {"city": "\ud800"}}</tool_call>)",
       R"(<tool_call>{"name": "weather", "arguments": ["Rome"]}</tool_call>)",
       R"(<tool_call>{"name": "weather", "arguments": "Rome"}</tool_call>)",
       R"(<tool_call>{"name": 7, "arguments": {}}</tool_call>)",
       R"(<tool_call>{"arguments": {}}</tool_call>)",
       R"(<tool_call>{"name": "stop", "arguments": {}} and more</tool_call>)",
       "The <tool_call> tag opens a call.",
       // Where one is broken, what its own text holds is not called.
       R"(<tool_call>{"name": "create", "arguments": {"content": oh "<tool_call>{\"name\": \"stop\"}</tool_call>)"});
  expect_text(kHermes, CallFault::kUnclosed,
              {"<tool_call>", "<tool_call>\n", R"(<tool_call>{"name": "weather", "arguments": {"city": "Ro)",
               R"(Well. <tool_call>{"name": "stop", "arguments": {}})",
               R"(<tool_call>{"name": "stop", "arguments": {}}</tool_)"});
  expect_text(kHermes, CallFault::kQuoted,
              {R"(Write `<tool_call>{"name": "stop"}</tool_call>` to stop.)",
               "Like this:\n```xml\n<tool_call>{\"name\": \"stop\"}</tool_call>\n```\n"});
}

TEST(ReplyParser, WhatFollowsAFaultIsRead) {
  expect_all(kHermes, {{R"(<tool_call>{"name": "erase"}</tool_call><tool_call>{"name": "stop"}</tool_call>)",
                        R"(T[<tool_call>{"name": "erase"}</tool_call>]C[stop{}])"},
                       {R"(<tool_call><tool_call>{"name": "stop"}</tool_call>)", "T[<tool_call>]C[stop{}]"},
                       {R"(<tool_call>{"name": bad}</tool_call> <tool_call>{"name": "stop"}</tool_call>)",
                        R"(T[<tool_call>{"name": bad}</tool_call> ]C[stop{}])"},
                       {R"(`a` <tool_call>{"name": "stop"}</tool_call>)", "T[`a` ]C[stop{}]"}});
}

TEST(ReplyParser, NothingIsACallWithoutTools) {
  for (const CallStyle& style : call_styles()) {
    if (style.always) continue;
    Listener listener{.start = {.style = &style}, .tools = {}};
    for (const std::string_view reply :
         {R"(<tool_call>{"name": "stop", "arguments": {}}</tool_call>)", "\n <tool_call> \n\n", "[stop()]",
          R"([TOOL_CALLS]stop[ARGS]{})", R"({"name": "stop", "parameters": {}})"}) {
      EXPECT_EQ(hear(listener, reply), "T[" + std::string(reply) + "]") << style.name;
      EXPECT_EQ(listener.faults, CallFaults{});
    }
  }
}

TEST(ReplyParser, ThinkingStandsInFront) {
  Listener listener = kHermes;
  listener.start.tags = &kThink;
  expect_all(listener,
             {{"<think>\nhm\n</think>\n\nAnswer", "R[hm]T[Answer]"},
              {"<think>a <tool_call>{\"name\": \"stop\"}</tool_call></think>b",
               "R[a <tool_call>{\"name\": \"stop\"}</tool_call>]T[b]"},
              {"<think>hm</think>\n\n<tool_call>{\"name\": \"stop\"}</tool_call>", "R[hm]C[stop{}]"},
              {"<think>never done", "R[never done]"},
              {"Say `<think>x</think>`.", "T[Say `<think>x</think>`.]"}});
  listener.start.inside = true;
  listener.cut = true;
  expect_all(listener, {{"never done", "R[never done]"}, {"hm</think>Yes", "R[hm]T[Yes]"}});
}

TEST(ReplyParser, ControlTokensAreToldFromTheirText) {
  const ThinkingTags tags{"[THINK]", "[/THINK]"};
  Listener listener = listener_for("mistral", {"[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]"});
  listener.start.tags = &tags;
  EXPECT_EQ(hear(listener, "[THINK]hm[/THINK][TOOL_CALLS]stop[ARGS]{}"), "R[hm]C[stop{}]");
  ReplyParser parser(listener.start, listener.tools, listener.controls);
  Heard heard;
  heard.add(parser.push("[THINK]x[/THINK][TOOL_CALLS]stop[ARGS]{}"));
  heard.add(parser.finish(false));
  EXPECT_EQ(heard.show(), "T[[THINK]x[/THINK][TOOL_CALLS]stop[ARGS]{}]");
  // A string may speak of them, too.
  ReplyParser another(listener.start, listener.tools, listener.controls);
  Heard speaking;
  speaking.add(another.push_control("[TOOL_CALLS]"));
  speaking.add(another.push("create"));
  speaking.add(another.push_control("[ARGS]"));
  speaking.add(another.push(R"({"content": "[TOOL_CALLS]stop[ARGS]{}"})"));
  speaking.add(another.finish(false));
  EXPECT_EQ(speaking.show(), R"(C[create{"content": "[TOOL_CALLS]stop[ARGS]{}"}])");
}

TEST(ReplyParser, StreamsNamesAndArguments) {
  const Listener listener = kHermes;
  ReplyParser parser(listener.start, listener.tools);
  EXPECT_TRUE(parser.push("<tool_call>\n{\"name\": \"weath").empty());
  const auto named = parser.push("er\"");
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].calls.at(0).name, "weather");
  EXPECT_FALSE(named[0].calls.at(0).finished);
  const auto begun = parser.push(", \"arguments\": {\"city\": \"Ro");
  EXPECT_EQ(begun.at(0).calls.at(0).arguments, "{\"city\": \"Ro");
  EXPECT_EQ(parser.push("me\"}}").at(0).calls.at(0).arguments, "me\"");  // not yet JSON
  const auto ended = parser.push("\n</tool_call>");
  EXPECT_EQ(ended.at(0).calls.at(0).arguments, "}");
  EXPECT_TRUE(ended.at(0).calls.at(0).finished);
}

TEST(ReplyParser, WithdrawsWhatNeverEnds) {
  const Listener listener = kHermes;
  ReplyParser parser(listener.start, listener.tools);
  EXPECT_EQ(parser.push(R"(<tool_call>{"name": "stop", "arguments": {)").at(0).calls.size(), 1u);
  const auto last = parser.finish(true);
  ASSERT_EQ(last.size(), 2u);
  EXPECT_TRUE(last[0].calls.at(0).withdrawn);
  EXPECT_EQ(last[1].text, R"(<tool_call>{"name": "stop", "arguments": {)");
}

}  // namespace
}  // namespace tempo9::chat
