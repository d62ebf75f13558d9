// Byte-pair encoding of characters, as SentencePiece does it: spaces are written "▁" (U+2581), the characters
// of a text are merged, and a character without a token becomes the tokens of its bytes ("<0xE2>"), or the
// unknown token where there are none. What merges first is the maker's business.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "text/merges.h"
#include "text/string_table.h"
#include "text/token_index.h"
#include "text/vocabulary_tokenizer.h"

namespace tempo9::text {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

class CharacterBpe final : public VocabularyTokenizer {
 public:
  using VocabularyTokenizer::Defaults;
  // Fails if a byte token's text is not of the form "<0x41>".
  // `adds_space`: in front of the text, and behind special tokens.
  static Result<std::unique_ptr<Tokenizer>> make(Vocabulary vocabulary, Defaults defaults, MergeTable merges,
                                                 bool adds_space);
  bool strips_leading_space() const override { return adds_space_; }

 private:
  CharacterBpe(Vocabulary vocabulary, Defaults defaults, MergeTable merges, bool adds_space);
  Status read_tokens();
  Status read_byte_token(TokenId token);
  void note_space_joins();
  void encode_stretch(std::string_view text, bool opens, std::vector<TokenId>& ids) const override;
  std::string_view spell(TokenId token) const override { return spellings_[static_cast<size_t>(token)]; }

  size_t find_word_end(std::string_view text, size_t begin) const;
  void encode_word(std::string_view word, std::vector<TokenId>& scratch, std::vector<TokenId>& ids) const;
  void merge_characters(std::string_view word, std::vector<TokenId>& symbols) const;
  void push_bytes(std::string_view bytes, std::vector<TokenId>& symbols) const;

  MergeTable merges_;
  bool adds_space_;
  StringTable spellings_;                // the bytes of each token
  TokenIndex index_;                     // of normal tokens, by their texts
  std::array<TokenId, 256> of_byte_{};   // kNoToken where there is none
  std::vector<bool> whole_;              // a word with this token's text becomes this token
  std::array<bool, 256> joins_space_{};  // bytes that some token has in front of a "▁"
};

}  // namespace tempo9::text
