#include "grammar/matcher.h"

#include <utility>
#include <vector>

#include "grammar/compiled_body.h"

namespace tempo9::grammar {
namespace {
constexpr int kWordBits = 32;
}

struct Matcher::Body {
  std::shared_ptr<const CompiledGrammar> grammar;
  xgrammar::GrammarMatcher matcher;
  std::vector<uint32_t> words;
  int64_t shape;  // of `words`, for the library
};

Matcher::Matcher(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;
Matcher::~Matcher() = default;

Result<Matcher> Matcher::make(std::shared_ptr<const CompiledGrammar> grammar) {
  return without_exceptions(ErrorCode::kInternal, [&] {
    const CompiledGrammar::Body& compiled = grammar->body();
    const auto words = static_cast<size_t>((compiled.vocabulary_size + kWordBits - 1) / kWordBits);
    return Matcher(std::make_unique<Body>(Body{grammar, xgrammar::GrammarMatcher(compiled.grammar),
                                               std::vector<uint32_t>(words), static_cast<int64_t>(words)}));
  });
}

Result<TokenMask> Matcher::allowed() {
  return without_exceptions(ErrorCode::kInternal, [&] {
    DLTensor tensor{};
    tensor.data = body_->words.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 1;
    tensor.dtype = {kDLInt, kWordBits, 1};
    tensor.shape = &body_->shape;
    body_->matcher.FillNextTokenBitmask(&tensor);
    return TokenMask(body_->words);
  });
}

Status Matcher::accept(TokenId token) {
  TRY_ASSIGN(const bool accepted,
             without_exceptions(ErrorCode::kInternal, [&] { return body_->matcher.AcceptToken(token); }));
  if (accepted) return {};
  return fail(ErrorCode::kInternal, "token {} is not allowed by the grammar here", token);
}

bool Matcher::complete() const {
  return without_exceptions(ErrorCode::kInternal, [&] { return body_->matcher.IsCompleted(); })
      .value_or(false);
}

}  // namespace tempo9::grammar
