#include "grammar/decimal.h"

#include <algorithm>
#include <charconv>

namespace tempo9::grammar {
namespace {

constexpr int kMaxDigits = 100;

int compare_magnitudes(const Decimal& a, const Decimal& b) {
  if (a.whole.size() != b.whole.size()) return a.whole.size() < b.whole.size() ? -1 : 1;
  const int whole = a.whole.compare(b.whole);
  return whole != 0 ? whole : a.fraction.compare(b.fraction);
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view number) {
  Decimal result;
  result.negative = number.starts_with('-');
  if (result.negative) number.remove_prefix(1);
  int exponent = 0;
  if (const size_t at = number.find_first_of("eE"); at != number.npos) {
    std::string_view digits = number.substr(at + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc() || std::abs(exponent) > kMaxDigits) return std::nullopt;
    number = number.substr(0, at);
  }
  const size_t point = number.find('.');
  std::string digits(number.substr(0, point));
  int places = 0;  // of `digits`, behind the point
  if (point != number.npos) {
    digits += number.substr(point + 1);
    places = static_cast<int>(number.size() - point - 1);
  }
  places -= exponent;
  if (places < 0) digits.append(static_cast<size_t>(-places), '0');
  places = std::max(places, 0);
  if (const auto missing = places + 1 - static_cast<int>(digits.size()); missing > 0)
    digits.insert(0, static_cast<size_t>(missing), '0');
  result.whole = digits.substr(0, digits.size() - static_cast<size_t>(places));
  result.fraction = digits.substr(result.whole.size());
  result.whole.erase(0, std::min(result.whole.find_first_not_of('0'), result.whole.size() - 1));
  result.fraction.erase(result.fraction.find_last_not_of('0') + 1);
  if (result.whole.size() + result.fraction.size() > kMaxDigits) return std::nullopt;
  if (result.is_zero()) result.negative = false;
  return result;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  return a.negative ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

}  // namespace tempo9::grammar
