// Two things by the first bytes of the input. A GGUF file: its metadata as a vocabulary, used on a few texts
// if it is accepted. Anything else: one of the small vocabularies, how special tokens are to be treated, and
// a text.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "gguf/file.h"
#include "text/detokenizer.h"
#include "text/tokenizer_test_vocabulary.h"
#include "text/utf8.h"

namespace {

using namespace tempo9;
using text::testing::SmallVocabulary;
using Recognise = text::SpecialTokens::Recognise;

struct Subject {
  std::unique_ptr<text::Tokenizer> tokenizer;
  bool keeps_bytes;  // decoding gives back the text
};

void add_special_tokens(SmallVocabulary& vocabulary) {
  vocabulary.add("<|end|>", text::TokenType::kControl);
  vocabulary.add("<tag>", text::TokenType::kUserDefined);
  vocabulary.add("<tag>s", text::TokenType::kControl);
}

Subject make_byte_level(const char* pre, bool keeps_bytes) {
  SmallVocabulary vocabulary = SmallVocabulary::bytes(pre);
  add_special_tokens(vocabulary);
  vocabulary.join("a", "b");
  vocabulary.join("ab", "ab");
  vocabulary.join("\u00C3", "\u00A9");  // the two bytes of U+00E9
  vocabulary.add("whole");
  return {vocabulary.must_make(), keeps_bytes};
}

Subject make_characters(const char* model) {
  SmallVocabulary vocabulary = SmallVocabulary::pieces(model);
  add_special_tokens(vocabulary);
  float score = 0;
  for (const char* piece : {"\u2581", "a", "b", "<", "/", "s", ">", "\n", "\u00E9"})
    vocabulary.add(piece, text::TokenType::kNormal, score -= 1);
  vocabulary.join("\u2581", "a");
  vocabulary.join("\u2581", "\u2581");
  vocabulary.join("a", "b");
  vocabulary.join(">", "\u2581");
  vocabulary.join(">\u2581", "<");
  return {vocabulary.must_make(), false};
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> made;
    for (const char* pre : {"default", "gpt-2", "smollm", "falcon", "llama-bpe", "gpt-4o", "tekken",
                            "deepseek-llm", "deepseek-coder", "deepseek-v3"})
      made.push_back(make_byte_level(pre, true));
    for (const char* pre : {"qwen2", "qwen35"}) made.push_back(make_byte_level(pre, false));  // they compose
    for (const char* model : {"llama", "gemma4"}) made.push_back(make_characters(model));
    return made;
  }();
  return all;
}

// What every answer must be, whatever the vocabulary.
void check_ids(const text::Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  text::Detokenizer detokenizer(tokenizer, true);
  for (const TokenId id : ids) {
    CHECK(id >= 0 && id < tokenizer.vocabulary_size());
    const std::string piece = detokenizer.push(id);
    CHECK(text::valid_prefix(piece) == piece.size());
  }
  detokenizer.finish();
}

void use_file(const uint8_t* data, size_t size) {
  const auto file = gguf::File::parse({data, size});
  if (!file) return;
  const auto tokenizer = text::make_tokenizer((*file)->metadata());
  if (!tokenizer) {
    CHECK(!tokenizer.error().message.empty());
    return;
  }
  for (const std::string_view words : {"", "a b<|end|> \u00E9\n\n", "\xFF\xC3", "abababab whole <tag>s"})
    check_ids(**tokenizer, (*tokenizer)->encode(words, {}));
  for (TokenId id = -1; id <= (*tokenizer)->vocabulary_size(); ++id)
    if ((*tokenizer)->ends_generation(id)) CHECK(id >= 0 && id < (*tokenizer)->vocabulary_size());
}

void use_text(const uint8_t* data, size_t size) {
  constexpr size_t kHead = 4;  // vocabulary, rule, and where content begins and ends
  if (size < kHead) return;
  const Subject& subject = subjects()[data[0] % subjects().size()];
  const std::string_view words(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  const std::array<text::Range, 1> content = {{{std::min(data[2], data[3]), std::max(data[2], data[3])}}};
  constexpr std::array<Recognise, 3> kRules = {Recognise::kEverywhere, Recognise::kNowhere,
                                               Recognise::kOutsideContent};
  const auto ids = subject.tokenizer->encode(words, {kRules[data[1] % kRules.size()], content});
  check_ids(*subject.tokenizer, ids);
  if (!subject.keeps_bytes) return;
  std::string decoded;
  for (const TokenId id : ids) decoded += subject.tokenizer->bytes(id, true);
  CHECK(decoded == words);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("GGUF")) {
    use_file(data, size);
  } else {
    use_text(data, size);
  }
  return 0;
}
