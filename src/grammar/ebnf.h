// A grammar in XGrammar's EBNF while it is written: rules with names of their own, equal bodies once.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tempo9::grammar {

// `text`, exactly, as an expression. Bytes that are not UTF-8 become U+FFFD.
std::string literal(std::string_view text);

class Ebnf {
 public:
  // The name of a rule with this body: an earlier one's if it has the same.
  std::string rule(std::string_view hint, std::string body);
  // For rules that refer to themselves: a name first, its body later.
  std::string reserve(std::string_view hint);
  void define(const std::string& name, std::string body);

  // Whether there is more of it than we compile; writing on is pointless then.
  Status check_size() const;
  // The whole text, beginning with `root ::= start`.
  std::string text(std::string_view start) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;  // by body
  std::string rules_;
  size_t count_ = 0;
};

}  // namespace tempo9::grammar
