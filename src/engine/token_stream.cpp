#include "engine/token_stream.h"

#include <algorithm>
#include <utility>

namespace tempo9::engine {

TokenStream::Matcher::Matcher(std::string stop_string)
    : stop(std::move(stop_string)), border(stop.size() + 1, 0) {
  for (size_t end = 1; end < stop.size(); ++end) {
    size_t candidate = border[end];
    while (candidate > 0 && stop[candidate] != stop[end]) candidate = border[candidate];
    border[end + 1] = stop[candidate] == stop[end] ? candidate + 1 : 0;
  }
}

bool TokenStream::Matcher::advance(char byte) {
  while (length > 0 && stop[length] != byte) length = border[length];
  if (stop[length] == byte) ++length;
  return length == stop.size();
}

TokenStream::TokenStream(const text::Tokenizer& tokenizer, const std::vector<std::string>& stop_strings,
                         std::vector<std::string> shown, std::vector<std::string> silent)
    : tokenizer_(tokenizer), shown_(std::move(shown)), silent_(std::move(silent)), detokenizer_(tokenizer) {
  for (const std::string& stop : stop_strings)
    if (!stop.empty()) matchers_.emplace_back(stop);
}

TokenStream::Piece TokenStream::push(TokenId token) {
  if (stopped_) return {"", true};
  if (shows(token)) return push_control(token);
  return settle(detokenizer_.push(token), false);
}

// By its name: a vocabulary may hold several of one name.
bool TokenStream::shows(TokenId token) const {
  return tokenizer_.is_control(token) && std::ranges::find(shown_, tokenizer_.name(token)) != shown_.end();
}

// What was held back is decided by it.
TokenStream::Piece TokenStream::push_control(TokenId token) {
  Piece piece = settle(detokenizer_.finish(), true);
  for (Matcher& matcher : matchers_) matcher.length = 0;
  if (!piece.stopped) piece.control = tokenizer_.name(token);
  listening_ = std::ranges::find(silent_, tokenizer_.name(token)) == silent_.end();
  return piece;
}

TokenStream::Piece TokenStream::finish() {
  if (stopped_) return {"", true};
  return settle(detokenizer_.finish(), true);
}

// Feeds `text` to the matchers; the offset in held_ + text where the winning stop string begins.
std::optional<size_t> TokenStream::find_stop(const std::string& text) {
  for (size_t i = 0; i < text.size() && listening_; ++i) {
    const Matcher* winner = nullptr;
    for (Matcher& matcher : matchers_)
      if (matcher.advance(text[i]) && (winner == nullptr || matcher.stop.size() > winner->stop.size()))
        winner = &matcher;
    if (winner == nullptr) continue;
    matched_ = winner->stop;
    return held_.size() + i + 1 - matched_.size();
  }
  return std::nullopt;
}

TokenStream::Piece TokenStream::settle(const std::string& text, bool final) {
  const std::optional<size_t> begin = find_stop(text);
  std::string known = std::exchange(held_, {}) + text;
  if (begin) {
    stopped_ = true;
    known.resize(*begin);
    return {std::move(known), true};
  }
  if (final) return {std::move(known), false};
  size_t undecided = 0;
  for (const Matcher& matcher : matchers_) undecided = std::max(undecided, matcher.length);
  held_ = known.substr(known.size() - undecided);
  known.resize(known.size() - undecided);
  return {std::move(known), false};
}

}  // namespace tempo9::engine
