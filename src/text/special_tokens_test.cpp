#include "text/special_tokens.h"

#include <gtest/gtest.h>

#include "text/tokenizer_test_vocabulary.h"

namespace tempo9::text {
namespace {

using testing::SmallVocabulary;
using Recognise = SpecialTokens::Recognise;
using Ids = std::vector<TokenId>;

constexpr TokenId kEnd = 256, kThink = 257, kThinking = 258, kSpaces = 259;

std::unique_ptr<Tokenizer> make_chat_tokenizer() {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
  vocabulary.add("<|end|>", TokenType::kControl);
  vocabulary.add("<think>", TokenType::kUserDefined);
  vocabulary.add("<think>ing", TokenType::kControl);
  vocabulary.add("   ", TokenType::kUserDefined);
  return vocabulary.must_make();
}

// Ids of special tokens only, in order.
Ids find_special(const Tokenizer& tokenizer, std::string_view text, const SpecialTokens& rules) {
  Ids special;
  std::string all;
  for (const TokenId id : tokenizer.encode(text, rules)) {
    if (id >= 256) special.push_back(id);
    all += tokenizer.bytes(id, true);
  }
  EXPECT_EQ(all, text);
  return special;
}

TEST(SpecialTokens, EverywhereNowhere) {
  const auto tokenizer = make_chat_tokenizer();
  const std::string_view text = "a<|end|>b<think>c<|end|>";
  EXPECT_EQ(find_special(*tokenizer, text, {Recognise::kEverywhere, {}}), (Ids{kEnd, kThink, kEnd}));
  EXPECT_EQ(find_special(*tokenizer, text, {Recognise::kNowhere, {}}), Ids{kThink})
      << "user-defined ones are text";
}

TEST(SpecialTokens, ControlTokensOnlyWhereNoPartIsContent) {
  const auto tokenizer = make_chat_tokenizer();
  const std::string_view text = "<|end|><|end|><|end|>";  // each 7 bytes
  const auto find = [&](std::vector<Range> content) {
    return find_special(*tokenizer, text, {Recognise::kOutsideContent, content}).size();
  };
  EXPECT_EQ(find({}), 3u);
  EXPECT_EQ(find({{0, 21}}), 0u);
  EXPECT_EQ(find({{7, 14}}), 2u);
  EXPECT_EQ(find({{6, 7}}), 2u) << "its last byte";
  EXPECT_EQ(find({{7, 8}}), 2u) << "its first byte";
  EXPECT_EQ(find({{13, 15}}), 1u) << "a bit of two";
  EXPECT_EQ(find({{3, 3}, {9, 9}}), 3u) << "ranges of nothing";
  EXPECT_EQ(find({{0, 1}, {7, 8}, {14, 15}}), 0u);
  EXPECT_EQ(find({{100, 200}}), 3u);
}

TEST(SpecialTokens, ContentPutTogetherWithTheTemplateForgesNothing) {
  const auto tokenizer = make_chat_tokenizer();
  // The template writes "<|", the user "end|>".
  const std::vector<Range> content = {{2, 7}};
  EXPECT_EQ(find_special(*tokenizer, "<|end|>", {Recognise::kOutsideContent, content}), Ids{});
}

TEST(SpecialTokens, UserDefinedTokensAreRecognisedInContent) {
  const auto tokenizer = make_chat_tokenizer();
  const std::vector<Range> content = {{0, 100}};
  EXPECT_EQ(find_special(*tokenizer, "x<think>y", {Recognise::kOutsideContent, content}), Ids{kThink});
}

TEST(SpecialTokens, TheLongestAllowedOneWins) {
  const auto tokenizer = make_chat_tokenizer();
  EXPECT_EQ(find_special(*tokenizer, "<think>ing", {Recognise::kEverywhere, {}}), Ids{kThinking});
  EXPECT_EQ(find_special(*tokenizer, "<think>ing", {Recognise::kNowhere, {}}), Ids{kThink});
  EXPECT_EQ(find_special(*tokenizer, "<think><think", {Recognise::kEverywhere, {}}), Ids{kThink});
  EXPECT_EQ(find_special(*tokenizer, "       ", {Recognise::kEverywhere, {}}), (Ids{kSpaces, kSpaces}));
}

TEST(SpecialTokens, PhiTakesTheSpaceBehindThem) {
  SmallVocabulary vocabulary = SmallVocabulary::pieces("llama");
  for (const char* letter : {"\u2581", "a", "\n"}) vocabulary.add(letter);  // 259 to 261
  const TokenId user = vocabulary.add("<|user|>", TokenType::kControl);
  const auto plain = vocabulary.must_make();
  EXPECT_EQ(plain->encode("<|user|>\n a", {}), (Ids{user, 259, 261, 259, 260}));
  vocabulary.set_name("Phi-3 mini");
  const auto phi = vocabulary.must_make();
  EXPECT_EQ(phi->encode("<|user|>\n a", {}), (Ids{user, 259, 260}));
  EXPECT_EQ(phi->encode("<s>\n", {}), (Ids{1, 259, 261})) << "this one does not";
  EXPECT_EQ(phi->encode("<|user|>\n", {}), Ids{user});
}

}  // namespace
}  // namespace tempo9::text
