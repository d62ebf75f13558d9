#include "server/api/token_reports.h"

#include <algorithm>
#include <utility>

namespace tempo9::server {

void TokenReports::add(const text::Tokenizer& tokenizer, const sample::Choice& choice) {
  const auto spell = [&](TokenId token, float logprob) {
    return TokenText{std::string(tokenizer.bytes(token, true)), logprob};
  };
  TokenReport report{spell(choice.token, choice.logprob), {}, characters_};
  for (const sample::TokenLogprob& top : choice.top) report.top.push_back(spell(top.token, top.logprob));
  const std::string_view visible = tokenizer.bytes(choice.token, false);
  const size_t begin = added_;
  added_ += visible.size();
  characters_ += std::ranges::count_if(visible, [](char byte) { return (byte & 0xC0) != 0x80; });
  pending_.push_back({std::move(report), begin, added_});
}

std::vector<TokenReport> TokenReports::release(size_t bytes) {
  released_ += bytes;
  std::vector<TokenReport> out;
  for (; !pending_.empty() && pending_.front().end <= released_; pending_.pop_front())
    out.push_back(std::move(pending_.front().report));
  return out;
}

std::vector<TokenReport> TokenReports::release_rest(size_t bytes, bool cut) {
  std::vector<TokenReport> out = release(bytes);
  for (; !pending_.empty(); pending_.pop_front())
    if (!cut || pending_.front().begin < released_) out.push_back(std::move(pending_.front().report));
  return out;
}

}  // namespace tempo9::server
