// The decimal numbers within bounds, as a grammar.
#pragma once
#include <optional>
#include <string>

#include "grammar/decimal.h"
#include "grammar/ebnf.h"

namespace tempo9::grammar {

struct NumberBounds {
  bool integers = false;  // only these
  std::optional<Decimal> low = {}, high = {};
  bool low_excluded = false, high_excluded = false;
};

// An expression, or nothing if no number is within the bounds. Whole parts that no bound limits have at most
// 18 digits, so that nobody's integers overflow; fractions have a few more digits than the bounds, at least
// six; only numbers without bounds may have an exponent.
std::optional<std::string> numbers_within(const NumberBounds& bounds, Ebnf& grammar);

}  // namespace tempo9::grammar
