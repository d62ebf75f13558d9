// The syntax of regular expressions; what it means is in regex.h.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "grammar/regex.h"

namespace tempo9::grammar {

class RegexParser {
 public:
  explicit RegexParser(std::string_view source);
  // ^ and $ stand in the tree as they stand in the source.
  Result<Regex> parse();

 private:
  Result<Regex> choice(int depth);
  Result<Regex> sequence(int depth);
  Result<Regex> atom(int depth);
  Result<Regex> group(int depth);
  Result<Regex> repeated(Regex element);
  bool read_counts(int& least, int& most);
  Result<CodePointSet> character_class();
  Result<CodePointSet> class_member(bool& single);
  Result<CodePointSet> escape(bool in_class);
  Result<char32_t> numbered_escape(char32_t kind);
  std::optional<char32_t> hexadecimal(int digits);

  bool at_end() const { return at_ == source_.size(); }
  char32_t peek() const { return at_end() ? 0 : source_[at_]; }
  bool take(char32_t c);
  template <class... Args>
  tl::unexpected<Error> refuse(fmt::format_string<Args...> what, Args&&... args) const {
    return fail(ErrorCode::kUnsupported, "{} (at character {})",
                fmt::format(what, std::forward<Args>(args)...), at_ + 1);
  }

  std::u32string source_;
  size_t at_ = 0;
};

}  // namespace tempo9::grammar
