// Runs the passes of a pre-tokenizer with PCRE2's just-in-time compiler. Threads: immutable after make().
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/pre_tokenizers.h"

struct pcre2_real_code_8;

namespace tempo9::text {

class Splitter {
 public:
  static Result<Splitter> make(std::span<const SplitPass> passes);

  // Where the pieces of `text`, which is valid UTF-8, end: ascending, the last at text.size(); none for no
  // text.
  std::vector<size_t> split(std::string_view text) const;

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::vector<std::unique_ptr<pcre2_real_code_8, FreeCode>> passes_;
};

}  // namespace tempo9::text
