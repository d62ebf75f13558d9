// Token ids to text, streaming. Every piece is valid UTF-8 and never splits a character; the pieces' sum is
// the whole. Bytes that are not UTF-8 are replaced by U+FFFD as soon as that is certain, one for each maximal
// subpart of a character, as Python's bytes.decode(errors="replace") does. Threads: one at a time. Does not
// own the tokenizer.
#pragma once
#include <string>

#include "text/tokenizer.h"

namespace tempo9::text {

class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer, bool show_special = false)
      : tokenizer_(&tokenizer), show_special_(show_special) {}

  // Text that has become certain with this token; may be empty.
  std::string push(TokenId token);
  // What is left at the end: replacement characters for a character that never came to its end.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  bool show_special_;
  bool at_start_ = true;
  std::string pending_;  // an incomplete character, at most three bytes
};

}  // namespace tempo9::text
