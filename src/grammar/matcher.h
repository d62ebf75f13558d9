// Where one reply is in its grammar. Threads: one at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "base/types.h"
#include "grammar/compiled.h"

namespace tempo9::grammar {

// One bit for each token, 32 a word, the lowest first: set where the token is allowed.
using TokenMask = std::span<const uint32_t>;

class Matcher {
 public:
  static Result<Matcher> make(std::shared_ptr<const CompiledGrammar> grammar);
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;
  ~Matcher();

  // The tokens that may come next; valid until the next call. Usually some microseconds, and up to a few
  // milliseconds at a place of the grammar where no matcher has been before.
  Result<TokenMask> allowed();
  // Moves on by a token that is allowed; an error if it is not.
  Status accept(TokenId token);
  // Whether the text may end here.
  bool complete() const;

 private:
  struct Body;
  explicit Matcher(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace tempo9::grammar
