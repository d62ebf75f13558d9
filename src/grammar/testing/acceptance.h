// What texts a form accepts, asked byte by byte: for tests.
#pragma once
#include <future>
#include <string>
#include <string_view>

#include "grammar/compiler.h"
#include "grammar/matcher.h"

namespace tempo9::grammar::testing {

// Ids 0 to 255 are the bytes, then come an end and a control token.
class Bytes final : public text::Tokenizer {
 public:
  static constexpr TokenId kEnd = 256, kControl = 257;

  Bytes() {
    for (int byte = 0; byte < 256; ++byte) bytes_.push_back(static_cast<char>(byte));
  }
  std::vector<TokenId> encode(std::string_view text, const text::SpecialTokens&) const override {
    std::vector<TokenId> ids;
    for (const unsigned char byte : text) ids.push_back(byte);
    return ids;
  }
  std::string_view bytes(TokenId token, bool) const override {
    return token < kEnd ? std::string_view(bytes_).substr(static_cast<size_t>(token), 1) : std::string_view();
  }
  std::string_view name(TokenId token) const override {
    return token == kControl ? "<control>" : bytes(token, true);
  }
  int vocabulary_size() const override { return kControl + 1; }
  bool is_control(TokenId token) const override { return token >= kEnd; }
  bool ends_generation(TokenId token) const override { return token == kEnd; }
  std::optional<TokenId> begin_of_text() const override { return std::nullopt; }
  std::optional<TokenId> end_of_text() const override { return std::nullopt; }
  bool adds_begin_of_text() const override { return false; }
  bool adds_end_of_text() const override { return false; }
  bool strips_leading_space() const override { return false; }
  std::string_view kind() const override { return "bytes"; }

 private:
  std::string bytes_;
};

inline Compiled compile(Compiler& compiler, const Form& form) {
  std::promise<Compiled> promise;
  compiler.compile(form, [&](Compiled compiled) { promise.set_value(std::move(compiled)); });
  return promise.get_future().get();
}

inline bool is_allowed(TokenMask mask, TokenId token) {
  return (mask[static_cast<size_t>(token) / 32] >> (token % 32) & 1) != 0;
}

// How far into `text` the grammar goes along: its size + 1 if the text may also end there.
inline size_t accepted_bytes(const std::shared_ptr<const CompiledGrammar>& grammar, std::string_view text) {
  auto matcher = Matcher::make(grammar);
  if (!matcher) return 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto token = static_cast<TokenId>(static_cast<unsigned char>(text[i]));
    const auto mask = matcher->allowed();
    if (!mask || !is_allowed(*mask, token) || !matcher->accept(token)) return i;
  }
  const auto mask = matcher->allowed();
  return text.size() + (mask && matcher->complete() && is_allowed(*mask, Bytes::kEnd) ? 1 : 0);
}

class Acceptance {
 public:
  explicit Acceptance(const Form& form) {
    const Bytes bytes;
    Compiler compiler(bytes);
    grammar_ = compile(compiler, form);
  }
  static Acceptance of_schema(std::string_view schema) {
    return Acceptance(schema_form(Json::parse(schema), "schema"));
  }

  std::string error() const { return grammar_ ? "" : grammar_.error().message; }
  bool accepts(std::string_view text) const {
    return grammar_.has_value() && accepted_bytes(*grammar_, text) == text.size() + 1;
  }

 private:
  Compiled grammar_;
};

}  // namespace tempo9::grammar::testing
