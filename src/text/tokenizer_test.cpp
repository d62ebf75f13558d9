// Each kind of tokenizer on a vocabulary small enough to know the answer.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "text/detokenizer.h"
#include "text/tokenizer_test_vocabulary.h"

namespace tempo9::text {
namespace {

using testing::SmallVocabulary;
using testing::spell_bytes;
using Ids = std::vector<TokenId>;

constexpr SpecialTokens kEverywhere = {};
constexpr SpecialTokens kNowhere = {SpecialTokens::Recognise::kNowhere, {}};

std::string decode(const Tokenizer& tokenizer, const Ids& ids) {
  std::string bytes;
  for (const TokenId id : ids) bytes += tokenizer.bytes(id, true);
  return bytes;
}

TEST(ByteBpe, MergesByRankThenFromTheLeft) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
  const TokenId bc = vocabulary.join("b", "c");
  const TokenId ab = vocabulary.join("a", "b");
  const TokenId aa = vocabulary.join("a", "a");
  const auto tokenizer = vocabulary.must_make();
  EXPECT_EQ(tokenizer->encode("abc", kEverywhere), (Ids{'a', bc}));
  EXPECT_EQ(tokenizer->encode("abd", kEverywhere), (Ids{ab, 'd'}));
  EXPECT_EQ(tokenizer->encode("aaa", kEverywhere), (Ids{aa, 'a'}));
  EXPECT_EQ(tokenizer->encode("", kEverywhere), Ids{});
  EXPECT_EQ(tokenizer->kind(), "byte-level BPE (gpt-2)");
}

TEST(ByteBpe, AWholePieceIsItsTokenOnlyWhereTheFamilySaysSo) {
  for (const bool whole : {false, true}) {
    SmallVocabulary vocabulary = SmallVocabulary::bytes(whole ? "llama-bpe" : "gpt-2");
    const TokenId word = vocabulary.add("word");  // no merge leads there
    const auto tokenizer = vocabulary.must_make();
    EXPECT_EQ(tokenizer->encode("word", kEverywhere), whole ? Ids{word} : (Ids{'w', 'o', 'r', 'd'}));
  }
}

TEST(ByteBpe, KeepsAnyBytes) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("llama-bpe");
  vocabulary.join(spell_bytes("\xE4"), spell_bytes("\xB8"));
  vocabulary.join(spell_bytes("\xFF"), spell_bytes("\xFF"));
  vocabulary.join(spell_bytes(" "), "a");
  const auto tokenizer = vocabulary.must_make();
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& c : text)
      c = round % 2 == 0 ? static_cast<char>(random()) : "a \xE4\xB8\xAD\xFF"[random() % 6];
    EXPECT_EQ(decode(*tokenizer, tokenizer->encode(text, kEverywhere)), text);
  }
  EXPECT_EQ(tokenizer->encode("\xFF\xFF", kEverywhere), Ids{257}) << "bytes that are no characters merge too";
}

TEST(ByteBpe, AByteWithoutATokenIsLeftOutBeforeMerging) {
  SmallVocabulary vocabulary("gpt2", "gpt-2");
  const TokenId a = vocabulary.add("a"), b = vocabulary.add("b");
  const TokenId ab = vocabulary.join("a", "b");
  const auto tokenizer = vocabulary.must_make();
  EXPECT_EQ(tokenizer->encode("ab", kEverywhere), Ids{ab});
  EXPECT_EQ(tokenizer->encode("axb", kEverywhere), Ids{ab}) << "x has no token, and all three are one piece";
  EXPECT_EQ(tokenizer->encode("a b", kEverywhere), (Ids{a, b})) << "two pieces";
}

TEST(ByteBpe, ComposesWhereTheFamilyDoes) {
  const auto qwen = SmallVocabulary::bytes("qwen2").must_make();
  const auto smollm = SmallVocabulary::bytes("smollm").must_make();
  EXPECT_EQ(decode(*qwen, qwen->encode("e\u0301", kEverywhere)), "\u00E9");
  EXPECT_EQ(decode(*smollm, smollm->encode("e\u0301", kEverywhere)), "e\u0301");
}

TEST(ByteBpe, TextNeverMergesIntoAControlToken) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
  vocabulary.add("END", TokenType::kControl);
  vocabulary.join("E", "N");
  vocabulary.join("EN", "D");
  const auto tokenizer = vocabulary.must_make();
  EXPECT_EQ(tokenizer->encode("END", kNowhere), (Ids{257, 'D'}));
  EXPECT_EQ(tokenizer->encode("END", kEverywhere), Ids{256});
}

TEST(ByteBpe, OfEqualTokensTheFirstIsUsed) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("llama-bpe");
  const TokenId first = vocabulary.add("ab");
  const TokenId second = vocabulary.add("ab");
  vocabulary.merges().push_back("a b");
  vocabulary.add("");
  const auto tokenizer = vocabulary.must_make();
  EXPECT_EQ(tokenizer->encode("ab", kEverywhere), Ids{first});
  EXPECT_EQ(tokenizer->bytes(second, false), "ab");
}

// "ab" before "bc" by score; "abc" from either.
SmallVocabulary make_pieces() {
  SmallVocabulary vocabulary = SmallVocabulary::pieces("llama");
  for (const char* letter : {"\u2581", "a", "b", "c", "<", "/", "s", ">"})
    vocabulary.add(letter, TokenType::kNormal, -100);
  vocabulary.add("ab", TokenType::kNormal, -2);            // 267
  vocabulary.add("bc", TokenType::kNormal, -1);            // 268
  vocabulary.add("\u2581a", TokenType::kNormal, -3);       // 269
  vocabulary.add("</", TokenType::kNormal, -4);            // 270
  vocabulary.add("s>", TokenType::kNormal, -5);            // 271
  vocabulary.add("\u2581\u2581", TokenType::kNormal, -6);  // 272
  return vocabulary;
}
constexpr TokenId kSpace = 259, kA = 260, kB = 261;
TokenId byte_token(int byte) {
  return 3 + byte;
}

TEST(SentencePiece, MergesByScore) {
  const auto tokenizer = make_pieces().must_make();
  EXPECT_EQ(tokenizer->encode("abc", kEverywhere), (Ids{269, 268})) << "bc first, then the space with a";
  EXPECT_EQ(tokenizer->encode("ab", kEverywhere), (Ids{kSpace, 267}));
  EXPECT_EQ(tokenizer->kind(), "SentencePiece BPE");
}

TEST(SentencePiece, AddsASpaceInFrontAndBehindSpecialTokens) {
  SmallVocabulary vocabulary = make_pieces();
  EXPECT_EQ(vocabulary.must_make()->encode("a<s>a a", kEverywhere), (Ids{269, 1, 269, 269}));
  EXPECT_EQ(vocabulary.must_make()->encode("", kEverywhere), Ids{});
  EXPECT_TRUE(vocabulary.must_make()->strips_leading_space());
  vocabulary.set_flag("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(vocabulary.must_make()->encode("a<s>a a", kEverywhere), (Ids{kA, 1, kA, 269}));
  EXPECT_FALSE(vocabulary.must_make()->strips_leading_space());
}

TEST(SentencePiece, SpellsUnknownCharactersInBytes) {
  const auto tokenizer = make_pieces().must_make();
  EXPECT_EQ(tokenizer->encode("b\u4E2D", kEverywhere),
            (Ids{kSpace, kB, byte_token(0xE4), byte_token(0xB8), byte_token(0xAD)}));
  EXPECT_EQ(tokenizer->encode("\xFF\n", kEverywhere), (Ids{kSpace, byte_token(0xFF), byte_token('\n')}));
  EXPECT_EQ(decode(*tokenizer, tokenizer->encode("b\u4E2D\xFF", kEverywhere)), " b\u4E2D\xFF");
}

TEST(SentencePiece, WithoutByteTokensARunOfUnknownCharactersIsOneToken) {
  SmallVocabulary vocabulary("llama", "");
  vocabulary.set("tokenizer.ggml.unknown_token_id", 0);
  vocabulary.add("<unk>", TokenType::kUnknown);
  const TokenId space = vocabulary.add("\u2581"), a = vocabulary.add("a");
  EXPECT_EQ(vocabulary.must_make()->encode("axya", kEverywhere), (Ids{space, a, 0, a}));
}

TEST(SentencePiece, TextNeverMergesIntoAControlToken) {
  const auto tokenizer = make_pieces().must_make();
  EXPECT_EQ(tokenizer->encode("</s>", kNowhere), (Ids{kSpace, 270, 271}));
  EXPECT_EQ(tokenizer->encode("</s>", kEverywhere), Ids{2});
}

TEST(SentencePiece, TokensThatReachAcrossASpaceAreFound) {
  SmallVocabulary vocabulary = make_pieces();
  const TokenId across = vocabulary.add("b\u2581a", TokenType::kNormal, -1.5f);
  const auto tokenizer = vocabulary.must_make();
  EXPECT_EQ(tokenizer->encode("b a", kEverywhere), (Ids{kSpace, across}));
  EXPECT_EQ(tokenizer->encode("b b", kEverywhere), (Ids{kSpace, kB, kSpace, kB}));
  EXPECT_EQ(tokenizer->bytes(across, false), "b a");
}

SmallVocabulary make_gemma_pieces() {
  SmallVocabulary vocabulary = SmallVocabulary::pieces("gemma4");
  for (const char* letter : {"\u2581", "a", "b", "\n", ">", "<"}) vocabulary.add(letter);  // 259 to 264
  vocabulary.set("tokenizer.ggml.bos_token_id", 1);
  return vocabulary;
}

TEST(Gemma, MergesByListWithoutASpaceInFront) {
  SmallVocabulary vocabulary = make_gemma_pieces();
  const TokenId lines = vocabulary.join("\n", "\n");
  const TokenId word = vocabulary.join("\u2581", "a");
  const auto tokenizer = vocabulary.must_make();
  EXPECT_EQ(tokenizer->encode("a a\n\n\nb", kEverywhere), (Ids{kA, word, lines, 262, kB}));
  EXPECT_EQ(tokenizer->encode("\u00E9", kEverywhere), (Ids{byte_token(0xC3), byte_token(0xA9)}));
  EXPECT_EQ(tokenizer->bytes(word, false), " a");
  EXPECT_FALSE(tokenizer->strips_leading_space());
  EXPECT_TRUE(tokenizer->adds_begin_of_text()) << "whatever the file says";
  EXPECT_EQ(tokenizer->kind(), "Gemma 4 BPE");
}

TEST(Gemma, MergesAcrossASpaceWhereAMergeDoes) {
  SmallVocabulary vocabulary = make_gemma_pieces();
  const TokenId left = vocabulary.join(">", "\u2581");
  const TokenId tags = vocabulary.join(">\u2581", "<");
  const auto tokenizer = vocabulary.must_make();
  EXPECT_EQ(tokenizer->encode("> <", kEverywhere), Ids{tags});
  EXPECT_EQ(tokenizer->encode("a> b a", kEverywhere), (Ids{kA, left, kB, kSpace, kA}));
}

TEST(Tokenizer, LongTextsOfOneKind) {
  constexpr size_t kLength = 1 << 18;
  SmallVocabulary bytes = SmallVocabulary::bytes("gpt-2");
  bytes.join("a", "a");
  bytes.join("aa", "aa");
  SmallVocabulary gemma = make_gemma_pieces();
  gemma.join("a", "a");
  gemma.join("\u2581", "\u2581");
  for (const SmallVocabulary& vocabulary : {bytes, gemma}) {
    const auto tokenizer = vocabulary.must_make();
    for (const char letter : {'a', ' ', '\n', '<', '\xFF'}) {
      const std::string text(kLength, letter);
      const std::clock_t start = std::clock();
      const Ids ids = tokenizer->encode(text, kEverywhere);
      EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 3.0) << "letter " << letter;
      EXPECT_EQ(decode(*tokenizer, ids), text);
    }
  }
}

}  // namespace
}  // namespace tempo9::text
