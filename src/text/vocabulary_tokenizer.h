// What all tokenizer kinds have in common: a vocabulary, and special tokens that part the text. A kind adds
// how the text between special tokens becomes ids, and what bytes a token stands for.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/special_tokens.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace tempo9::text {

class VocabularyTokenizer : public Tokenizer {
 public:
  std::vector<TokenId> encode(std::string_view text, const SpecialTokens& special) const final;
  std::string_view bytes(TokenId token, bool show_special) const final;
  std::string_view name(TokenId token) const final;
  int vocabulary_size() const final { return vocabulary_.size(); }
  bool is_control(TokenId token) const final {
    return vocabulary_.has(token) && vocabulary_.is_control(token);
  }
  bool ends_generation(TokenId token) const final {
    return vocabulary_.has(token) && vocabulary_.ends_generation(token);
  }
  std::optional<TokenId> begin_of_text() const final { return defaults_.begin; }
  std::optional<TokenId> end_of_text() const final { return defaults_.end; }
  bool adds_begin_of_text() const final { return defaults_.adds_begin && defaults_.begin.has_value(); }
  bool adds_end_of_text() const final { return defaults_.adds_end && defaults_.end.has_value(); }
  bool strips_leading_space() const override { return false; }
  std::string_view kind() const final { return defaults_.kind; }

 protected:
  // What the file says, or what its kind implies where it is silent.
  struct Defaults {
    std::string kind;
    std::optional<TokenId> begin, end;
    bool adds_begin = false, adds_end = false;
  };
  VocabularyTokenizer(Vocabulary vocabulary, Defaults defaults)
      : vocabulary_(std::move(vocabulary)), special_tokens_(vocabulary_), defaults_(std::move(defaults)) {}

  // Appends the ids of `text`, which is not empty and holds no special token. `opens`: at the start of the
  // whole text or right behind a special token.
  virtual void encode_stretch(std::string_view text, bool opens, std::vector<TokenId>& ids) const = 0;
  // Of a token that exists and is neither control, unknown nor user-defined.
  virtual std::string_view spell(TokenId token) const = 0;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
  SpecialTokenTree special_tokens_;
  Defaults defaults_;
};

}  // namespace tempo9::text
