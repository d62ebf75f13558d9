// Numbers as Python reads, writes, compares and rounds them.
#pragma once
#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

std::string format_integer(Integer value, unsigned base = 10);
// The shortest decimal that reads back as the same double: "1.0", "1e-07", "inf".
std::string format_float(double value);

// Python's int(text, base): spaces around, a sign, single underscores between digits, and for base 0 or a
// matching base a prefix. Nothing if the text is no integer; `overflow` is set if it is one beyond 128 bits.
std::optional<Integer> parse_integer(std::string_view text, int base, bool& overflow);
// Python's float(text).
std::optional<double> parse_float(std::string_view text);

inline bool is_number(const Value& value) {
  return value.is(Kind::kInteger) || value.is(Kind::kBool) || value.is(Kind::kFloat);
}
inline bool is_integral(const Value& value) {
  return value.is(Kind::kInteger) || value.is(Kind::kBool);
}
// Of a number or bool.
double as_double(const Value& value);
// Of an integer or bool.
inline Integer as_integer(const Value& value) {
  return value.is(Kind::kBool) ? Integer{value.boolean()} : value.integer();
}
// Exact, also between integers and floats.
std::partial_ordering compare_numbers(const Value& left, const Value& right);

// The integer part; nothing for what is not finite or beyond 128 bits.
std::optional<Integer> truncate(double value);
// Half to even, on the exact binary value, as Python's round().
double round_float(double value, int digits);

}  // namespace tempo9::chat::jinja
