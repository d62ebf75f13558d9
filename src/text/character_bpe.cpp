#include "text/character_bpe.h"

#include <algorithm>
#include <charconv>

#include "text/utf8.h"

namespace tempo9::text {
namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  replaced.reserve(text.size());
  for (size_t at = 0;;) {
    const size_t found = text.find(from, at);
    replaced += text.substr(at, found - at);
    if (found == std::string_view::npos) return replaced;
    replaced += to;
    at = found + from.size();
  }
}

}  // namespace

CharacterBpe::CharacterBpe(Vocabulary words, Defaults defaults, MergeTable merges, bool adds_space)
    : VocabularyTokenizer(std::move(words), std::move(defaults)),
      merges_(std::move(merges)),
      adds_space_(adds_space),
      index_(static_cast<size_t>(vocabulary().size())),
      whole_(static_cast<size_t>(vocabulary().size())) {
  of_byte_.fill(kNoToken);
}

Result<std::unique_ptr<Tokenizer>> CharacterBpe::make(Vocabulary words, Defaults defaults, MergeTable merges,
                                                      bool adds_space) {
  std::unique_ptr<CharacterBpe> tokenizer(
      new CharacterBpe(std::move(words), std::move(defaults), std::move(merges), adds_space));
  TRY(tokenizer->read_tokens());
  tokenizer->note_space_joins();
  return tokenizer;
}

Status CharacterBpe::read_tokens() {
  for (TokenId token = 0; token < vocabulary().size(); ++token) {
    const std::string_view text = vocabulary().text(token);
    if (vocabulary().type(token) == TokenType::kByte) {
      TRY(read_byte_token(token));
      continue;
    }
    spellings_.push_back(replace_all(text, kSpaceMark, " "));
    if (vocabulary().type(token) == TokenType::kNormal && !text.empty())
      index_.add(vocabulary().texts(), token);
  }
  std::vector<TokenId> symbols;
  for (TokenId token = 0; token < vocabulary().size(); ++token) {
    merge_characters(vocabulary().text(token), symbols);
    whole_[static_cast<size_t>(token)] = symbols.size() == 1 && symbols[0] == token;
  }
  return {};
}

Status CharacterBpe::read_byte_token(TokenId token) {
  const std::string_view text = vocabulary().text(token);
  unsigned byte = 0;
  const bool framed = text.size() == 6 && text.starts_with("<0x") && text.ends_with('>');
  const char* digits = framed ? text.data() + 3 : nullptr;
  if (!framed || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
    return fail(ErrorCode::kCorrupt,
                "tokenizer.ggml.tokens[{}] is marked as a byte but not written like \"<0x41>\"", token);
  const char c = static_cast<char>(byte);
  spellings_.push_back(std::string_view(&c, 1));
  if (of_byte_[byte] == kNoToken) of_byte_[byte] = token;
  return {};
}

// A place in front of a "▁" that no token reaches across parts the text: both sides merge as if alone.
// Merging word by word there gives the same tokens as merging the whole text, in less time.
void CharacterBpe::note_space_joins() {
  for (TokenId token = 0; token < vocabulary().size(); ++token) {
    if (vocabulary().is_control(token)) continue;
    const std::string_view text = vocabulary().text(token);
    for (size_t at = text.find(kSpaceMark, 1); at != std::string_view::npos;
         at = text.find(kSpaceMark, at + 1))
      joins_space_[static_cast<uint8_t>(text[at - 1])] = true;
  }
}

void CharacterBpe::encode_stretch(std::string_view text, bool opens, std::vector<TokenId>& ids) const {
  std::string marked = opens && adds_space_ ? std::string(kSpaceMark) : std::string();
  marked += replace_all(text, " ", kSpaceMark);
  std::vector<TokenId> scratch;
  const size_t first = ids.size();
  for (size_t begin = 0; begin < marked.size();) {
    const size_t end = find_word_end(marked, begin);
    encode_word(std::string_view(marked).substr(begin, end - begin), scratch, ids);
    begin = end;
  }
  // A run of unknown characters is one unknown token.
  if (const auto unknown = vocabulary().unknown()) {
    const auto begin = ids.begin() + static_cast<ptrdiff_t>(first);
    ids.erase(
        std::unique(begin, ids.end(), [&](TokenId a, TokenId b) { return a == *unknown && b == *unknown; }),
        ids.end());
  }
}

size_t CharacterBpe::find_word_end(std::string_view text, size_t begin) const {
  for (size_t at = text.find(kSpaceMark, begin + 1); at != std::string_view::npos;
       at = text.find(kSpaceMark, at + 1))
    if (!joins_space_[static_cast<uint8_t>(text[at - 1])]) return at;
  return text.size();
}

void CharacterBpe::encode_word(std::string_view word, std::vector<TokenId>& scratch,
                               std::vector<TokenId>& ids) const {
  const TokenId token = index_.find(vocabulary().texts(), word);
  if (token != kNoToken && whole_[static_cast<size_t>(token)]) {
    ids.push_back(token);
    return;
  }
  merge_characters(word, scratch);
  ids.insert(ids.end(), scratch.begin(), scratch.end());
}

void CharacterBpe::merge_characters(std::string_view word, std::vector<TokenId>& symbols) const {
  symbols.clear();
  while (!word.empty()) {
    const Utf8Step step = first_character(word);
    const std::string_view character = word.substr(0, static_cast<size_t>(step.bytes));
    const TokenId token = index_.find(vocabulary().texts(), character);
    if (token != kNoToken) {
      symbols.push_back(token);
    } else {
      push_bytes(character, symbols);
    }
    word.remove_prefix(character.size());
  }
  merges_.apply(symbols);
}

void CharacterBpe::push_bytes(std::string_view bytes, std::vector<TokenId>& symbols) const {
  const bool all = std::all_of(bytes.begin(), bytes.end(),
                               [&](char c) { return of_byte_[static_cast<uint8_t>(c)] != kNoToken; });
  if (all) {
    for (const char c : bytes) symbols.push_back(of_byte_[static_cast<uint8_t>(c)]);
  } else if (const auto unknown = vocabulary().unknown()) {
    symbols.push_back(*unknown);
  }
}

}  // namespace tempo9::text
