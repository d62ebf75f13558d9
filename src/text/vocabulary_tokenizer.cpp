#include "text/vocabulary_tokenizer.h"

namespace tempo9::text {

std::vector<TokenId> VocabularyTokenizer::encode(std::string_view text, const SpecialTokens& special) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3 + 1);  // few texts need more
  SpecialTokenScan scan(special_tokens_, text, special);
  size_t at = 0;
  bool opens = true;
  while (at < text.size()) {
    const auto hit = scan.next(at);
    const size_t end = hit ? hit->begin : text.size();
    if (end > at) encode_stretch(text.substr(at, end - at), opens, ids);
    if (!hit) break;
    ids.push_back(hit->token);
    at = hit->end;
    opens = true;
  }
  return ids;
}

std::string_view VocabularyTokenizer::bytes(TokenId token, bool show_special) const {
  if (!vocabulary_.has(token)) return {};
  if (vocabulary_.is_control(token)) return show_special ? vocabulary_.text(token) : std::string_view();
  if (vocabulary_.type(token) == TokenType::kUserDefined) return vocabulary_.text(token);
  return spell(token);
}

std::string_view VocabularyTokenizer::name(TokenId token) const {
  return vocabulary_.has(token) ? vocabulary_.text(token) : std::string_view();
}

}  // namespace tempo9::text
