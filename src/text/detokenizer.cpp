#include "text/detokenizer.h"

#include "text/utf8.h"

namespace tempo9::text {
namespace {
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
}  // namespace

std::string Detokenizer::push(TokenId token) {
  std::string_view bytes = tokenizer_->bytes(token, show_special_);
  if (bytes.empty()) return {};
  if (at_start_ && tokenizer_->strips_leading_space() && bytes.front() == ' ') bytes.remove_prefix(1);
  at_start_ = false;

  pending_ += bytes;
  std::string certain;
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const Utf8Step step = first_character(rest);
    if (step.truncated) break;
    certain += step.valid ? rest.substr(0, step.bytes) : kReplacement;
    rest.remove_prefix(step.bytes);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return certain;
}

std::string Detokenizer::finish() {
  std::string last(pending_.empty() ? std::string_view() : kReplacement);
  pending_.clear();
  return last;
}

}  // namespace tempo9::text
