// A tokenizer for tests: ids 0 to 255 are the bytes, further ids are the pieces it is given. So a text is cut
// at every byte unless a test asks for a larger piece.
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace tempo9::engine::testing {

class ByteTokenizer final : public text::Tokenizer {
 public:
  struct Piece {
    std::string text;
    bool control = false;
    bool ends_generation = false;
  };

  explicit ByteTokenizer(std::vector<Piece> pieces = {}) : pieces_(std::move(pieces)) {
    for (int byte = 0; byte < 256; ++byte) bytes_.push_back(static_cast<char>(byte));
  }

  // The id of piece `index`.
  static TokenId id(size_t index) { return static_cast<TokenId>(256 + index); }

  // Bytes, and control tokens where `special` recognises them.
  std::vector<TokenId> encode(std::string_view text, const text::SpecialTokens& special) const override {
    std::vector<TokenId> ids;
    for (size_t at = 0; at < text.size();) {
      const auto [token, length] = match(text, at, special);
      ids.push_back(token);
      at += length;
    }
    return ids;
  }
  std::string_view bytes(TokenId token, bool show_special) const override {
    if (token < 256) return std::string_view(bytes_).substr(token, 1);
    return piece(token).control && !show_special ? std::string_view() : piece(token).text;
  }
  std::string_view name(TokenId token) const override { return bytes(token, true); }
  int vocabulary_size() const override { return static_cast<int>(256 + pieces_.size()); }
  bool is_control(TokenId token) const override { return token >= 256 && piece(token).control; }
  bool ends_generation(TokenId token) const override { return token >= 256 && piece(token).ends_generation; }
  std::optional<TokenId> begin_of_text() const override { return std::nullopt; }
  std::optional<TokenId> end_of_text() const override { return std::nullopt; }
  bool adds_begin_of_text() const override { return false; }
  bool adds_end_of_text() const override { return false; }
  bool strips_leading_space() const override { return false; }
  std::string_view kind() const override { return "bytes"; }

 private:
  const Piece& piece(TokenId token) const { return pieces_[static_cast<size_t>(token - 256)]; }

  std::pair<TokenId, size_t> match(std::string_view text, size_t at,
                                   const text::SpecialTokens& special) const {
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (pieces_[i].control && text.substr(at).starts_with(pieces_[i].text) &&
          recognised(at, at + pieces_[i].text.size(), special))
        return {id(i), pieces_[i].text.size()};
    return {static_cast<unsigned char>(text[at]), 1};
  }

  static bool recognised(size_t begin, size_t end, const text::SpecialTokens& special) {
    using Recognise = text::SpecialTokens::Recognise;
    if (special.recognise != Recognise::kOutsideContent) return special.recognise == Recognise::kEverywhere;
    return std::ranges::none_of(special.content,
                                [&](text::Range range) { return begin < range.end && range.begin < end; });
  }

  std::vector<Piece> pieces_;
  std::string bytes_;
};

}  // namespace tempo9::engine::testing
