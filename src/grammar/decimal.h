// Decimal numbers as digits, so that bounds are compared exactly and not as rounded doubles.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tempo9::grammar {

struct Decimal {
  bool negative = false;
  std::string whole = "0";  // no leading zeros
  std::string fraction;     // no trailing zeros
  bool is_zero() const { return whole == "0" && fraction.empty(); }
};

// A JSON number; nothing if its digits written out would be more than a hundred.
std::optional<Decimal> parse_decimal(std::string_view number);

// Below 0, 0 or above 0, as a stands before, at or behind b.
int compare(const Decimal& a, const Decimal& b);

}  // namespace tempo9::grammar
