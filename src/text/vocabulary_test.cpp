// What a file's metadata may say, and what it may not.
#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/limits.h"
#include "text/tokenizer_test_vocabulary.h"

namespace tempo9::text {
namespace {

using testing::SmallVocabulary;

void expect_refused(const SmallVocabulary& vocabulary, ErrorCode code, std::string_view part) {
  const auto tokenizer = vocabulary.make();
  ASSERT_FALSE(tokenizer.has_value()) << "expected: " << part;
  EXPECT_EQ(tokenizer.error().code, code);
  EXPECT_NE(tokenizer.error().message.find(part), std::string::npos) << tokenizer.error().message;
}

TEST(Vocabulary, UnknownKindsAreRefusedByName) {
  expect_refused(SmallVocabulary("bert", ""), ErrorCode::kUnsupported, "tokenizer.ggml.model is 'bert'");
  expect_refused(SmallVocabulary::bytes("llama-9"), ErrorCode::kUnsupported,
                 "tokenizer.ggml.pre is 'llama-9'");
  expect_refused(SmallVocabulary("", ""), ErrorCode::kNotFound, "tokenizer.ggml.model");
}

TEST(Vocabulary, AMissingPreTokenizerIsTheOldDefault) {
  EXPECT_EQ(SmallVocabulary::bytes("").must_make()->kind(), "byte-level BPE (default)");
}

TEST(Vocabulary, LengthsMustAgree) {
  SmallVocabulary types = SmallVocabulary::bytes("gpt-2");
  types.types().pop_back();
  expect_refused(types, ErrorCode::kCorrupt, "tokenizer.ggml.token_type has 255 elements");
  SmallVocabulary scores = SmallVocabulary::pieces("llama");
  scores.scores().pop_back();
  expect_refused(scores, ErrorCode::kCorrupt, "tokenizer.ggml.scores has 258 elements");
  scores.scores().clear();
  expect_refused(scores, ErrorCode::kNotFound, "tokenizer.ggml.scores");
  expect_refused(SmallVocabulary("gpt2", "gpt-2"), ErrorCode::kCorrupt,
                 "tokenizer.ggml.tokens has 0 elements");
}

TEST(Vocabulary, ValuesMustMakeSense) {
  SmallVocabulary types = SmallVocabulary::bytes("gpt-2");
  types.types()[7] = 9;
  expect_refused(types, ErrorCode::kCorrupt, "tokenizer.ggml.token_type[7] is 9");
  SmallVocabulary scores = SmallVocabulary::pieces("llama");
  scores.scores()[3] = std::numeric_limits<float>::quiet_NaN();
  expect_refused(scores, ErrorCode::kCorrupt, "tokenizer.ggml.scores[3]");
  SmallVocabulary bytes = SmallVocabulary::pieces("llama");
  bytes.add("<0xG1>", TokenType::kByte);
  expect_refused(bytes, ErrorCode::kCorrupt, "tokenizer.ggml.tokens[259]");
  SmallVocabulary lengths = SmallVocabulary::bytes("gpt-2");
  lengths.add(std::string(limits::kMaxTokenBytes + 1, 'a'));
  expect_refused(lengths, ErrorCode::kUnsupported, "tokenizer.ggml.tokens[256]");
}

TEST(Vocabulary, MergesMustBeOfTokens) {
  for (const char* merge : {"a", "ab", "", " ", " a", "a "}) {
    SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
    vocabulary.merges().push_back(merge);
    expect_refused(vocabulary, ErrorCode::kCorrupt, "tokenizer.ggml.merges[0]");
  }
  SmallVocabulary product = SmallVocabulary::bytes("gpt-2");
  product.merges().push_back("a b");
  expect_refused(product, ErrorCode::kCorrupt, "tokenizer.ggml.merges[0]");
}

TEST(Vocabulary, SpecialIdsMustBeTokens) {
  for (const char* key :
       {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
        "tokenizer.ggml.eom_token_id", "tokenizer.ggml.unknown_token_id"}) {
    SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
    vocabulary.set(key, 256);
    expect_refused(vocabulary, ErrorCode::kCorrupt, key);
  }
}

TEST(Vocabulary, BeginAndEndOfText) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("llama-bpe");
  EXPECT_FALSE(vocabulary.must_make()->begin_of_text().has_value());
  EXPECT_FALSE(vocabulary.must_make()->adds_begin_of_text()) << "there is none to add";
  vocabulary.set("tokenizer.ggml.bos_token_id",
                 static_cast<uint32_t>(vocabulary.add("<|begin_of_text|>", TokenType::kControl)));
  EXPECT_EQ(vocabulary.must_make()->begin_of_text(), 256);
  EXPECT_TRUE(vocabulary.must_make()->adds_begin_of_text()) << "the family does";
  EXPECT_FALSE(vocabulary.must_make()->adds_end_of_text());
  vocabulary.set_flag("tokenizer.ggml.add_bos_token", false);
  EXPECT_FALSE(vocabulary.must_make()->adds_begin_of_text()) << "the file has the last word";

  const auto pieces = SmallVocabulary::pieces("llama").must_make();
  EXPECT_EQ(pieces->begin_of_text(), 1);
  EXPECT_EQ(pieces->end_of_text(), 2);
  EXPECT_TRUE(pieces->adds_begin_of_text());
}

TEST(Vocabulary, WithoutTypesTheNamedTokensAreControl) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
  const TokenId end = vocabulary.add("[END]");
  vocabulary.types().clear();
  vocabulary.set("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(end));
  const auto tokenizer = vocabulary.must_make();
  EXPECT_TRUE(tokenizer->is_control(end));
  EXPECT_FALSE(tokenizer->is_control('a'));
}

TEST(Vocabulary, IdsOutOfRangeAreNothing) {
  const auto tokenizer = SmallVocabulary::bytes("gpt-2").must_make();
  for (const TokenId token :
       {-1, 256, std::numeric_limits<TokenId>::max(), std::numeric_limits<TokenId>::min()}) {
    EXPECT_EQ(tokenizer->name(token), "");
    EXPECT_EQ(tokenizer->bytes(token, true), "");
    EXPECT_FALSE(tokenizer->is_control(token));
    EXPECT_FALSE(tokenizer->ends_generation(token));
  }
  EXPECT_EQ(tokenizer->vocabulary_size(), 256);
}

// Adds `texts` as tokens of `type`; returns those that end a reply.
std::vector<std::string> find_ends(const std::vector<std::string>& texts, TokenType type) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
  for (const std::string& text : texts) vocabulary.add(text, type);
  const auto tokenizer = vocabulary.must_make();
  std::vector<std::string> ends;
  for (TokenId token = 0; token < tokenizer->vocabulary_size(); ++token)
    if (tokenizer->ends_generation(token)) ends.emplace_back(tokenizer->name(token));
  return ends;
}

TEST(EndOfGeneration, ByTheFilesWord) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
  vocabulary.set("tokenizer.ggml.eos_token_id", 'e');
  vocabulary.set("tokenizer.ggml.eot_token_id", 't');
  vocabulary.set("tokenizer.ggml.eom_token_id", 'm');
  const auto tokenizer = vocabulary.must_make();
  for (const TokenId token : {'e', 't', 'm'}) EXPECT_TRUE(tokenizer->ends_generation(token));
  EXPECT_FALSE(tokenizer->ends_generation('a'));
}

TEST(EndOfGeneration, ByWellKnownTexts) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(find_ends({"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|file_sep|>"}, TokenType::kControl),
            (Texts{"<|im_end|>", "<|endoftext|>", "<|file_sep|>"}));
  EXPECT_EQ(find_ends({"<start_of_turn>", "<end_of_turn>", "<eos>"}, TokenType::kControl),
            (Texts{"<end_of_turn>", "<eos>"}));
  EXPECT_EQ(find_ends({"<|turn>", "<turn|>", "<|tool_response>"}, TokenType::kUserDefined),
            (Texts{"<turn|>", "<|tool_response>"}));
  EXPECT_EQ(find_ends({"</s>", "<|eot_id|>"}, TokenType::kNormal), Texts{"<|eot_id|>"})
      << "a tag of HTML is text";
}

TEST(EndOfGeneration, HarmonysEndOfAMessageIsNotTheEnd) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(find_ends({"<|end|>"}, TokenType::kControl), Texts{"<|end|>"});
  EXPECT_EQ(find_ends({"<|end|>", "<|return|>", "<|call|>", "<|start|>"}, TokenType::kControl),
            (Texts{"<|return|>", "<|call|>"}));
  EXPECT_EQ(find_ends({"<|end|>", "<|flush|>", "<|calls|>"}, TokenType::kControl),
            (Texts{"<|flush|>", "<|calls|>"}));
}

TEST(EndOfGeneration, ContentCannotForgeOne) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes("gpt-2");
  const TokenId end = vocabulary.add("<turn|>", TokenType::kUserDefined);
  const auto tokenizer = vocabulary.must_make();
  EXPECT_TRUE(tokenizer->is_control(end));
  EXPECT_EQ(tokenizer->encode("<turn|>", {SpecialTokens::Recognise::kNowhere, {}}).size(), 7u);
}

}  // namespace
}  // namespace tempo9::text
