// Byte-level byte-pair encoding: a pre-tokenizer cuts the text into pieces, each piece's bytes are merged. A
// byte without a token of its own, which some vocabularies have, is left out, as the reference does.
#include <array>
#include <string>

#include "text/byte_alphabet.h"
#include "text/composition.h"
#include "text/merge_list.h"
#include "text/pre_tokenizers.h"
#include "text/splitter.h"
#include "text/token_index.h"
#include "text/tokenizer_kinds.h"
#include "text/utf8.h"
#include "text/vocabulary_tokenizer.h"

namespace tempo9::text {
namespace {

class ByteBpe final : public VocabularyTokenizer {
 public:
  ByteBpe(Vocabulary vocabulary, Defaults defaults, const PreTokenizer& pre_tokenizer, Splitter splitter,
          MergeTable merges);
  using VocabularyTokenizer::Defaults;

 private:
  void encode_stretch(std::string_view text, bool opens, std::vector<TokenId>& ids) const override;
  std::string_view spell(TokenId token) const override { return spellings_[static_cast<size_t>(token)]; }

  void encode_piece(std::string_view piece, std::vector<TokenId>& scratch, std::vector<TokenId>& ids) const;
  void merge_bytes(std::string_view piece, std::vector<TokenId>& symbols) const;

  const PreTokenizer* pre_tokenizer_;
  Splitter splitter_;
  MergeTable merges_;
  StringTable spellings_;               // the bytes of each token
  TokenIndex index_;                    // of normal tokens, by their bytes
  std::array<TokenId, 256> of_byte_{};  // kNoToken where there is none
  std::vector<bool> whole_;             // a piece with this token's bytes becomes this token
};

ByteBpe::ByteBpe(Vocabulary words, Defaults defaults, const PreTokenizer& pre_tokenizer, Splitter splitter,
                 MergeTable merges)
    : VocabularyTokenizer(std::move(words), std::move(defaults)),
      pre_tokenizer_(&pre_tokenizer),
      splitter_(std::move(splitter)),
      merges_(std::move(merges)),
      index_(static_cast<size_t>(vocabulary().size())),
      whole_(static_cast<size_t>(vocabulary().size()), pre_tokenizer.whole_pieces) {
  for (TokenId token = 0; token < vocabulary().size(); ++token) {
    const std::string_view text = vocabulary().text(token);
    const auto bytes = decode_byte_alphabet(text);
    spellings_.push_back(bytes ? std::string_view(*bytes) : text);
    if (bytes && !bytes->empty() && vocabulary().type(token) == TokenType::kNormal)
      index_.add(spellings_, token);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    of_byte_[byte] = index_.find(spellings_, std::string_view(&c, 1));
  }
  if (pre_tokenizer.whole_pieces) return;
  std::vector<TokenId> symbols;
  for (TokenId token = 0; token < vocabulary().size(); ++token) {
    merge_bytes(spell(token), symbols);
    whole_[static_cast<size_t>(token)] = symbols.size() == 1 && symbols[0] == token;
  }
}

void ByteBpe::encode_stretch(std::string_view text, bool, std::vector<TokenId>& ids) const {
  std::string composed;
  if (pre_tokenizer_->composes) {
    composed = compose(text);
    text = composed;
  }
  std::vector<TokenId> scratch;
  while (!text.empty()) {
    const size_t valid = valid_prefix(text);
    size_t begin = 0;
    for (const size_t end : splitter_.split(text.substr(0, valid))) {
      encode_piece(text.substr(begin, end - begin), scratch, ids);
      begin = end;
    }
    // Patterns are about characters. Bytes that are none make a piece of their own.
    size_t end = valid;
    while (end < text.size()) {
      const Utf8Step step = first_character(text.substr(end));
      if (step.valid) break;
      end += static_cast<size_t>(step.bytes);
    }
    if (end > valid) encode_piece(text.substr(valid, end - valid), scratch, ids);
    text.remove_prefix(end);
  }
}

void ByteBpe::encode_piece(std::string_view piece, std::vector<TokenId>& scratch,
                           std::vector<TokenId>& ids) const {
  const TokenId token = index_.find(spellings_, piece);
  if (token != kNoToken && whole_[static_cast<size_t>(token)]) {
    ids.push_back(token);
    return;
  }
  merge_bytes(piece, scratch);
  ids.insert(ids.end(), scratch.begin(), scratch.end());
}

void ByteBpe::merge_bytes(std::string_view piece, std::vector<TokenId>& symbols) const {
  symbols.clear();
  for (const char c : piece)
    if (const TokenId token = of_byte_[static_cast<uint8_t>(c)]; token != kNoToken) symbols.push_back(token);
  merges_.apply(symbols);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_byte_bpe(const gguf::Metadata& metadata) {
  TRY_ASSIGN(const std::string_view name, metadata.string_or("tokenizer.ggml.pre", "default"));
  const PreTokenizer* pre_tokenizer = find_pre_tokenizer(name);
  if (pre_tokenizer == nullptr)
    return fail(ErrorCode::kUnsupported, "tokenizer.ggml.pre is '{}', a pre-tokenizer that is not supported",
                name);
  TRY_ASSIGN(Splitter splitter, Splitter::make(pre_tokenizer->passes));
  TRY_ASSIGN(Vocabulary vocabulary, Vocabulary::read(metadata));
  TRY_ASSIGN(MergeTable merges, read_merges(metadata, vocabulary));
  ByteBpe::Defaults defaults = {
      .kind = fmt::format("byte-level BPE ({})", name),
      .begin = vocabulary.begin_of_text(),
      .end = vocabulary.end_of_text(),
      .adds_begin = vocabulary.adds_begin_of_text().value_or(pre_tokenizer->adds_begin_of_text),
      .adds_end = vocabulary.adds_end_of_text().value_or(false),
  };
  return std::make_unique<ByteBpe>(std::move(vocabulary), std::move(defaults), *pre_tokenizer,
                                   std::move(splitter), std::move(merges));
}

}  // namespace tempo9::text
