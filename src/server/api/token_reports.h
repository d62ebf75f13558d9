// Tokens whose log-probabilities were asked for, kept until the text they stand for is out: part of a token's
// text may be held back, as the beginning of a character or of a stop string. Threads: one at a time.
#pragma once
#include <deque>
#include <vector>

#include "engine/engine.h"
#include "server/api/chat_delta.h"

namespace tempo9::server {

class TokenReports {
 public:
  void add(const text::Tokenizer& tokenizer, const sample::Choice& choice);
  // `bytes` more of the text are out. Gives the tokens that are now out as a whole.
  std::vector<TokenReport> release(size_t bytes);
  // The end. A stop string cuts the text: tokens of which nothing came out are dropped.
  std::vector<TokenReport> release_rest(size_t bytes, bool cut);

 private:
  struct Pending {
    TokenReport report;
    size_t begin, end;  // of its bytes in the text
  };
  std::deque<Pending> pending_;
  size_t added_ = 0, released_ = 0;  // bytes
  size_t characters_ = 0;            // among those added
};

}  // namespace tempo9::server
