#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/tokenizer_test_vocabulary.h"
#include "text/utf8.h"

namespace tempo9::text {
namespace {

using testing::SmallVocabulary;

// In vocabularies made by SmallVocabulary::bytes() a byte is its own id.
std::string decode_bytes(const Tokenizer& tokenizer, std::string_view bytes) {
  Detokenizer detokenizer(tokenizer);
  std::string text;
  for (const char byte : bytes) {
    const std::string piece = detokenizer.push(static_cast<uint8_t>(byte));
    EXPECT_EQ(valid_prefix(piece), piece.size()) << "a piece that is not UTF-8";
    text += piece;
  }
  return text + detokenizer.finish();
}

// Expected: Python's bytes.decode('utf-8', errors='replace').
TEST(Detokenizer, ReplacesWhatIsNotUtf8AsPythonDoes) {
  const auto tokenizer = SmallVocabulary::bytes("gpt-2").must_make();
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"", ""},
      {"abc", "abc"},
      {"\xC3\xA9\xE4\xB8\xAD\xF0\x9F\xA6\x99", "\xC3\xA9\xE4\xB8\xAD\xF0\x9F\xA6\x99"},
      {"\xC3", "\xEF\xBF\xBD"},
      {"\xC3\xA9\xC3", "\xC3\xA9\xEF\xBF\xBD"},
      {"\x80", "\xEF\xBF\xBD"},
      {"\xFF\xFE", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xE4\xB8", "\xEF\xBF\xBD"},
      {"\xE4\xB8\x61", "\xEF\xBF\xBD\x61"},
      {"\xF0\x9F\xA6", "\xEF\xBF\xBD"},
      {"\xF0\x9F\xA6\x61", "\xEF\xBF\xBD\x61"},
      {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xC1\xBF", "\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xE0\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xE0\xA0\x80", "\xE0\xA0\x80"},
      {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xED\x9F\xBF", "\xED\x9F\xBF"},
      {"\xF0\x80\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"},
      {"\xF5\x80\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
      {"\xE4\xE4\xB8\xAD", "\xEF\xBF\xBD\xE4\xB8\xAD"},
      {"\xF0\x9F\xC3\xA9", "\xEF\xBF\xBD\xC3\xA9"},
      {"\x61\xF1\x80\x80\x62", "\x61\xEF\xBF\xBD\x62"},
  };
  for (const auto& [bytes, text] : cases) EXPECT_EQ(decode_bytes(*tokenizer, bytes), text);
}

TEST(Detokenizer, GivesACharacterWithItsLastByteAndNotBefore) {
  const auto tokenizer = SmallVocabulary::bytes("gpt-2").must_make();
  Detokenizer detokenizer(*tokenizer);
  EXPECT_EQ(detokenizer.push(0xF0), "");
  EXPECT_EQ(detokenizer.push(0x9F), "");
  EXPECT_EQ(detokenizer.push(0xA6), "");
  EXPECT_EQ(detokenizer.push(0x99), "\xF0\x9F\xA6\x99");
  EXPECT_EQ(detokenizer.push(0xC3), "");
  EXPECT_EQ(detokenizer.push('a'),
            "\xEF\xBF\xBD"
            "a")
      << "certain as soon as the next byte is known";
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, HidesControlTokensUnlessAsked) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
  const TokenId end = vocabulary.add("<|im_end|>", TokenType::kControl);
  const TokenId think = vocabulary.add("<think>", TokenType::kUserDefined);
  const auto tokenizer = vocabulary.must_make();
  Detokenizer hiding(*tokenizer), showing(*tokenizer, true);
  EXPECT_EQ(hiding.push(end), "");
  EXPECT_EQ(showing.push(end), "<|im_end|>");
  EXPECT_EQ(hiding.push(think), "<think>");
  EXPECT_EQ(hiding.push(-1), "");
  EXPECT_EQ(hiding.push(100000), "");
}

TEST(Detokenizer, DropsTheFirstSpaceOfSentencePieceOnly) {
  SmallVocabulary vocabulary = SmallVocabulary::pieces("llama");
  const TokenId hello = vocabulary.add("\u2581hello"), space = vocabulary.add("\u2581");
  const auto tokenizer = vocabulary.must_make();
  Detokenizer detokenizer(*tokenizer);
  EXPECT_EQ(detokenizer.push(1), "") << "a control token is not the start";
  EXPECT_EQ(detokenizer.push(hello), "hello");
  EXPECT_EQ(detokenizer.push(hello), " hello");
  Detokenizer spaces(*tokenizer);
  EXPECT_EQ(spaces.push(space), "");
  EXPECT_EQ(spaces.push(space), " ");
  EXPECT_EQ(spaces.push(hello), " hello");
}

TEST(Detokenizer, JoinsByteTokensOfSentencePiece) {
  const auto tokenizer = SmallVocabulary::pieces("llama").must_make();
  constexpr TokenId kFirstByte = 3;
  Detokenizer detokenizer(*tokenizer);
  EXPECT_EQ(detokenizer.push(kFirstByte + 0xE4), "");
  EXPECT_EQ(detokenizer.push(kFirstByte + 0xB8), "");
  EXPECT_EQ(detokenizer.push(kFirstByte + 0xAD), "\u4E2D");
}

}  // namespace
}  // namespace tempo9::text
