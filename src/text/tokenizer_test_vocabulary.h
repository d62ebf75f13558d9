// Vocabularies of a few tokens for tests, as they would stand in a file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "gguf/file.h"
#include "gguf/writer.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace tempo9::text::testing {

class SmallVocabulary {
 public:
  // `model` and `pre` as in tokenizer.ggml.model and .pre; no key where empty.
  SmallVocabulary(std::string model, std::string pre) : model_(std::move(model)), pre_(std::move(pre)) {}

  // One token for each byte, in the byte alphabet, with ids 0 to 255.
  static SmallVocabulary bytes(std::string pre);
  // "<unk>", "<s>", "</s>", then a token "<0x00>" to "<0xFF>" for each byte: ids 3 to 258.
  static SmallVocabulary pieces(std::string model);

  TokenId add(std::string text, TokenType type = TokenType::kNormal, float score = 0);
  // Adds a merge of the two texts, and the token that it gives unless there is one. Returns that token.
  TokenId join(const std::string& left, const std::string& right);
  // An integer key beside those of the vocabulary.
  void set(std::string key, uint32_t value) { integers_.emplace_back(std::move(key), value); }
  void set_flag(std::string key, bool value) { flags_.emplace_back(std::move(key), value); }
  void set_name(std::string name) { name_ = std::move(name); }

  std::vector<std::string>& merges() { return merges_; }
  std::vector<int32_t>& types() { return types_; }
  std::vector<float>& scores() { return scores_; }

  std::vector<uint8_t> to_gguf() const;
  Result<std::unique_ptr<Tokenizer>> make() const;
  // Of a vocabulary that is right.
  std::unique_ptr<Tokenizer> must_make() const;

 private:
  TokenId find(std::string_view text) const;
  std::string model_, pre_, name_;
  std::vector<std::string> tokens_, merges_;
  std::vector<int32_t> types_;
  std::vector<float> scores_;
  std::vector<std::pair<std::string, uint32_t>> integers_;
  std::vector<std::pair<std::string, bool>> flags_;
};

// `bytes` in GPT-2's byte alphabet.
std::string spell_bytes(std::string_view bytes);

}  // namespace tempo9::text::testing
