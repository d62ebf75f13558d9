// Where each function of a C++ file begins and ends, found by following braces: no parser, but strict where
// it is lost (a file whose braces do not balance is a finding, never a pass).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempo9::tidy {

struct Function {
  std::string name;
  int first_line;  // of its declaration, counted from 1
  int last_line;   // of its closing brace
  int lines() const { return last_line - first_line + 1; }
};

// Outermost functions only: a lambda or local class counts as part of the function around it. Macros defined
// over several lines count as functions too. Empty if the braces of `source` do not balance.
std::optional<std::vector<Function>> find_functions(std::string_view source);

}  // namespace tempo9::tidy
