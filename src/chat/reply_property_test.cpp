// What holds for any reply, of a thousand broken ones: its meaning does not depend on how it was cut, calls
// are whole or withdrawn, and no byte of text is lost.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "chat/testing/replies.h"

namespace tempo9::chat {
namespace {

using testing::cut_every;
using testing::Cuts;
using testing::Heard;
using testing::HeardItem;
using testing::Listener;
using testing::style_named;

struct Sample {
  std::string_view style, reply;
};

constexpr Sample kSamples[] = {
    {"hermes",
     "Let me look.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Zürich \\\"x\\\" "
     "\\u00e9\", "
     "\"days\": 3}}\n</tool_call>\n<tool_call>\n{\"name\": \"stop\", \"arguments\": {}}\n</tool_call> Done."},
    {"qwen xml",
     "I "
     "`look`.\n\n<tool_call>\n<function=create>\n<parameter=path>\na.cpp\n</"
     "parameter>\n<parameter=content>\nif "
     "(a < b) {\n  \"</\" \n}\n\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=weather>\n"
     "<parameter=days>\n3\n</parameter>\n<parameter=place>\n{\"a\": "
     "[1]}\n</parameter>\n</function>\n</tool_call>"},
    {"gemma",
     "Well.<|tool_call>call:weather{city:<|\"|>a } "
     "b<|\"|>,days:3,tags:[\"x\",'y'],place:{k:{l:true}}}<tool_call|>"
     "<|tool_call>call:stop{}<tool_call|>"},
    {"mistral", "So [TOOL_CALLS]weather[ARGS]{\"city\": \"Rome\"}[TOOL_CALLS]stop[CALL_ID]abc123XYZ[ARGS]{}"},
    {"mistral array",
     "[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {\"city\": \"R\"}, \"id\": \"abc\"}, {\"name\": "
     "\"stop\", "
     "\"arguments\": {}}]"},
    {"llama json",
     "<|python_tag|>{\"name\": \"weather\", \"parameters\": {\"city\": \"Rome\", \"place\": {\"a\": "
     "[null]}}}; "
     "{\"name\": \"stop\", \"parameters\": {}}"},
    {"llama pythonic",
     "[weather(city=\"Rome\", days=3, place={'a': None, \"b\": [1, 2.5]}), stop(), "
     "create(content='it\\'s\\n')]"},
    {"harmony",
     "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|>"
     "<|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\": "
     "\"Rome\"}"
     "<|end|><|start|>assistant to=functions.stop<|channel|>commentary json<|message|>{}<|call|>"},
};

Listener listener_for(const Sample& sample, bool controls) {
  Listener listener{.start = {.style = style_named(sample.style), .tail = "<|start|>assistant"}};
  if (controls) listener.controls = list_markers(listener.start);
  return listener;
}

Cuts cut_at_random(uint32_t seed) {
  return [random = std::mt19937(seed)]() mutable { return 1 + random() % 7; };
}

// Words that a mutation may insert or repeat: the marks of the sample and what breaks JSON.
std::string_view random_word(std::mt19937& random, const CallStyle& style) {
  static constexpr std::string_view kWords[] = {"{",
                                                "}",
                                                "\"",
                                                "\\",
                                                "]",
                                                "[",
                                                ",",
                                                ":",
                                                "'",
                                                "`",
                                                "\n",
                                                " ",
                                                "<",
                                                "</parameter>",
                                                "<function=stop>",
                                                "call:stop{",
                                                "null",
                                                "[/ARGS]"};
  const size_t which = random() % (std::size(kWords) + style.markers.size());
  return which < std::size(kWords) ? kWords[which] : style.markers[which - std::size(kWords)];
}

std::string mutate(std::string text, std::mt19937& random, const CallStyle& style) {
  for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
    const size_t at = random() % (text.size() + 1), length = random() % 12;
    switch (random() % 4) {
      case 0:
        text.erase(at, 1 + length);
        break;
      case 1:
        text.insert(at, random_word(random, style));
        break;
      case 2:
        text.insert(at, text.substr(at, 4 * length));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

// Texts stand in the reply as they are and in their order; without a call they are all of it.
void expect_text_kept(const std::string& reply, const Heard& heard) {
  if (heard.calls() == 0) {
    EXPECT_EQ(heard.text(HeardItem::Kind::kText), reply);
    return;
  }
  size_t at = 0;
  for (const HeardItem& item : heard.items()) {
    if (item.kind != HeardItem::Kind::kText) continue;
    const size_t found = reply.find(item.text, at);
    ASSERT_NE(found, reply.npos) << item.text << " of " << reply;
    at = found + item.text.size();
  }
}

TEST(Replies, SamplesHoldCalls) {
  for (const Sample& sample : kSamples)
    for (const bool controls : {false, true}) {
      Listener listener = listener_for(sample, controls);
      const Heard heard = listener.hear(sample.reply, cut_every(std::string::npos));
      EXPECT_GE(heard.calls(), 2) << heard.show();
      EXPECT_EQ(listener.faults, CallFaults{}) << heard.show();
      for (size_t at = 0; at <= sample.reply.size(); ++at)  // cut by a limit anywhere
        EXPECT_EQ(listener.hear(sample.reply.substr(0, at), cut_every(3)).problem(), "");
    }
}

TEST(Replies, BrokenOnesLoseNothingAndDoNotDependOnCuts) {
  constexpr uint32_t kRounds = 400;
  for (const Sample& sample : kSamples)
    for (uint32_t seed = 0; seed < kRounds; ++seed) {
      std::mt19937 random(seed);
      Listener listener = listener_for(sample, seed % 2 == 0);
      const CallStyle& style = *listener.start.style;
      const std::string reply = mutate(std::string(sample.reply), random, style);
      const Heard whole = listener.hear(reply, cut_every(std::string::npos));
      ASSERT_EQ(whole.problem(), "") << reply;
      ASSERT_EQ(listener.hear(reply, cut_every(1)).show(), whole.show()) << reply;
      ASSERT_EQ(listener.hear(reply, cut_at_random(seed)).show(), whole.show()) << reply;
      if (!style.always) expect_text_kept(reply, whole);
    }
}

}  // namespace
}  // namespace tempo9::chat
