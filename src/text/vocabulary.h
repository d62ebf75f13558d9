// What every tokenizer kind reads from a file's metadata: the tokens' texts and types, the begin- and
// end-of-text tokens, and which tokens end a reply. Owns copies of the texts. Threads: immutable after
// read().
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "gguf/metadata.h"
#include "text/string_table.h"

namespace tempo9::text {

// The format's own numbers (tokenizer.ggml.token_type).
enum class TokenType : uint8_t {
  kUndefined = 0,
  kNormal = 1,
  kUnknown = 2,      // stands for text that nothing else can represent
  kControl = 3,      // not text: turn marks and the like
  kUserDefined = 4,  // text that is always this token, wherever it occurs
  kUnused = 5,
  kByte = 6,  // "<0x41>": one byte
};

class Vocabulary {
 public:
  // Errors name the key and, where one token is to blame, its id.
  static Result<Vocabulary> read(const gguf::Metadata& metadata);

  int size() const { return static_cast<int>(types_.size()); }
  bool has(TokenId token) const { return token >= 0 && token < size(); }
  const StringTable& texts() const { return texts_; }
  // Of a token that exists.
  std::string_view text(TokenId token) const { return texts_[static_cast<size_t>(token)]; }
  TokenType type(TokenId token) const { return types_[static_cast<size_t>(token)]; }
  bool is_control(TokenId token) const {
    return type(token) == TokenType::kControl || type(token) == TokenType::kUnknown;
  }
  bool ends_generation(TokenId token) const { return ends_[static_cast<size_t>(token)]; }
  // White space behind this special token belongs to it (see special_tokens.h).
  bool swallows_space(TokenId token) const { return swallows_space_[static_cast<size_t>(token)]; }

  // As the file says; none if it does not.
  std::optional<TokenId> begin_of_text() const { return begin_; }
  std::optional<TokenId> end_of_text() const { return end_; }
  std::optional<TokenId> unknown() const { return unknown_; }
  std::optional<bool> adds_begin_of_text() const { return adds_begin_; }
  std::optional<bool> adds_end_of_text() const { return adds_end_; }

 private:
  Status read_types(const gguf::Metadata& metadata);
  Status read_special_ids(const gguf::Metadata& metadata);
  Status mark_ends_of_generation(const gguf::Metadata& metadata);  // end_of_generation.cpp
  Status mark_space_swallowers(const gguf::Metadata& metadata);
  // The token that `key` names; none if the key is absent, an error if it is no token.
  Result<std::optional<TokenId>> read_id(const gguf::Metadata& metadata, std::string_view key) const;

  StringTable texts_;
  std::vector<TokenType> types_;
  std::vector<bool> ends_, swallows_space_;
  std::optional<TokenId> begin_, end_, unknown_;
  std::optional<bool> adds_begin_, adds_end_;
};

}  // namespace tempo9::text
