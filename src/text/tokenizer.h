// Text to token ids and back. One class per tokenizer kind behind one interface; make_tokenizer() picks by
// the file's metadata and refuses an unknown kind or pre-tokenizer by name. Threads: immutable after
// construction; any number of threads may encode at once.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "gguf/metadata.h"

namespace tempo9::text {

// Bytes [begin, end) of a text.
struct Range {
  size_t begin, end;
};

// Where special (control) tokens written in the text become their ids. A user's words must not forge a turn's
// end: content that came from outside is marked, and control tokens are recognised only where no part of them
// is marked. User-defined tokens (tool tags, <think>) are recognised everywhere, as in the reference.
struct SpecialTokens {
  enum class Recognise { kEverywhere, kNowhere, kOutsideContent } recognise = Recognise::kEverywhere;
  std::span<const Range> content = {};  // ascending, disjoint; for kOutsideContent
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Ids of `text`; any bytes are accepted, invalid UTF-8 included. Adds no begin- or end-of-text token.
  // Time is in proportion to the text's length (times its logarithm for one endless word). Families trained
  // on composed text (normalisation form C) compose it first, as their published tokenizers do.
  virtual std::vector<TokenId> encode(std::string_view text, const SpecialTokens& special) const = 0;
  // The bytes a token stands for (not necessarily whole UTF-8 characters). Control tokens give nothing unless
  // `show_special`.
  virtual std::string_view bytes(TokenId token, bool show_special) const = 0;
  // The token's text as it stands in the vocabulary, e.g. "<|im_end|>"; empty for an id out of range.
  virtual std::string_view name(TokenId token) const = 0;

  virtual int vocabulary_size() const = 0;
  virtual bool is_control(TokenId token) const = 0;
  // Tokens that end a reply: end of text, end of turn and the like.
  virtual bool ends_generation(TokenId token) const = 0;
  // The vocabulary's, whether or not it is to be added.
  virtual std::optional<TokenId> begin_of_text() const = 0;
  virtual std::optional<TokenId> end_of_text() const = 0;
  virtual bool adds_begin_of_text() const = 0;  // the file asks for one in front of a text that has none
  virtual bool adds_end_of_text() const = 0;
  // Whether decoding a whole text drops one leading space (SentencePiece-style vocabularies that add one when
  // encoding).
  virtual bool strips_leading_space() const = 0;
  virtual std::string_view kind() const = 0;  // for people: "byte-level BPE (smollm)"
};

// Reads the tokenizer.ggml.* keys, all checked: errors name the key. The tokenizer keeps no reference to
// `metadata`.
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const gguf::Metadata& metadata);

}  // namespace tempo9::text
