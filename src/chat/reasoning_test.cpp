#include "chat/reasoning.h"

#include <gtest/gtest.h>

namespace tempo9::chat {
namespace {

const ThinkingTags kThink{"<think>", "</think>"};

// "reasoning|text" of a reply that comes in pieces of `size` bytes.
std::string split(const ReplyStart& start, std::string_view reply, size_t size) {
  ReasoningSplitter splitter(start);
  std::string reasoning, text;
  const auto take = [&](const ReasoningSplitter::Piece& piece) {
    EXPECT_TRUE(piece.reasoning.empty() || text.empty()) << "thinking behind the answer";
    reasoning += piece.reasoning;
    text += piece.text;
  };
  for (size_t at = 0; at < reply.size(); at += size) take(splitter.push(reply.substr(at, size)));
  take(splitter.finish());
  return reasoning + "|" + text;
}

struct Case {
  std::string_view reply, inside, undecided;  // expected where the prompt opened the thinking, and where not
};

constexpr Case kCases[] = {
    {"", "|", "|"},
    {"plain", "plain|", "|plain"},
    {"\nfirst\n\nsecond\n</think>\n\nanswer\n", "first\n\nsecond|answer\n",
     "|\nfirst\n\nsecond\n</think>\n\nanswer\n"},
    {"<think>\na\n</think>\n\nb", "<think>\na|b", "a|b"},
    {" \n<think>a</think>b", " \n<think>a|b", "a|b"},
    {"</think>b", "|b", "|</think>b"},
    {"`<think>x</think>` is a tag", "`<think>x|` is a tag", "|`<think>x</think>` is a tag"},
    {"<think>a</think>b <think>c</think>", "<think>a|b <think>c</think>", "a|b <think>c</think>"},
    {"<thin", "<thin|", "|<thin"},
    {"<think", "<think|", "|<think"},
    {"<think>", "<think>|", "|"},
    {"<think>cut </thi", "<think>cut </thi|", "cut </thi|"},
    {"<think>a < b </ c</think>\n", "<think>a < b </ c|", "a < b </ c|"},
    {"  answer", "  answer|", "|  answer"},
};

TEST(ReasoningSplitter, LabelsAlikeHoweverTheReplyIsCut) {
  for (const Case& c : kCases)
    for (size_t size = 1; size <= c.reply.size() + 1; ++size) {
      EXPECT_EQ(split({&kThink, true}, c.reply, size), c.inside) << c.reply << " by " << size;
      EXPECT_EQ(split({&kThink, false}, c.reply, size), c.undecided) << c.reply << " by " << size;
      EXPECT_EQ(split({}, c.reply, size), "|" + std::string(c.reply)) << c.reply << " by " << size;
    }
}

TEST(ReasoningSplitter, SaysWhetherItThinks) {
  ReasoningSplitter splitter({&kThink, false});
  EXPECT_FALSE(splitter.thinking());
  splitter.push("<think>");
  EXPECT_TRUE(splitter.thinking());
  splitter.push("x</think>");
  EXPECT_FALSE(splitter.thinking());
}

TEST(ReplyStart, IsDecidedByTheEndOfThePrompt) {
  const auto start = [](std::string_view tail) { return find_reply_start(&kThink, tail); };
  EXPECT_TRUE(start("<|im_start|>assistant\n<think>\n").inside);
  EXPECT_EQ(start("<|im_start|>assistant\n<think>\n\n</think>\n\n").tags, nullptr);
  EXPECT_EQ(start("<|im_start|>assistant\n").tags, &kThink);
  EXPECT_FALSE(start("<|im_start|>assistant\n").inside);
  EXPECT_EQ(find_reply_start(nullptr, "<think>").tags, nullptr);
}

TEST(ThinkingTags, AreThoseOfTheTemplate) {
  EXPECT_EQ(find_thinking_tags("{{ m }}"), nullptr);
  EXPECT_EQ(find_thinking_tags("{{ '<think>' + r + '</think>' }}")->open, "<think>");
  EXPECT_EQ(find_thinking_tags("[THINK]{{ r }}[/THINK]")->close, "[/THINK]");
}

}  // namespace
}  // namespace tempo9::chat
