#include "chat/jinja/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

std::string_view trim_spaces(std::string_view text) {
  while (!text.empty()) {
    const unicode::Character first = unicode::decode(text, 0);
    if (!unicode::is_space(first.value)) break;
    text.remove_prefix(first.length);
  }
  while (!text.empty()) {
    const size_t last = unicode::previous(text, text.size());
    if (!unicode::is_space(unicode::decode(text, last).value)) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

int digit_value(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'z') return character - 'a' + 10;
  if (character >= 'A' && character <= 'Z') return character - 'A' + 10;
  return 99;
}

// "0x" and its kin: removes the prefix and settles the base. A bare "0…" in base 0 must be zero.
bool take_prefix(std::string_view& digits, int& base) {
  int prefix_base = 0;
  if (digits.size() > 1 && digits[0] == '0') {
    switch (digits[1]) {
      case 'x':
      case 'X':
        prefix_base = 16;
        break;
      case 'o':
      case 'O':
        prefix_base = 8;
        break;
      case 'b':
      case 'B':
        prefix_base = 2;
        break;
      default:
        break;
    }
  }
  if (prefix_base != 0 && (base == 0 || base == prefix_base)) {
    base = prefix_base;
    digits.remove_prefix(2);
    if (digits.starts_with('_')) digits.remove_prefix(1);
  } else if (base == 0) {
    base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
      return digits.find_first_not_of("0_") == std::string_view::npos;
    }
  }
  return true;
}

// The digits without their underscores; nothing if one stands where none may.
std::optional<std::string> remove_underscores(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      plain.push_back(text[i]);
      continue;
    }
    const auto is_digit = [&](size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) return std::nullopt;
  }
  return plain;
}

}  // namespace

std::string format_integer(Integer value, unsigned base) {
  using Unsigned = unsigned __int128;
  Unsigned rest = value < 0 ? Unsigned{0} - static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
  std::string digits;
  do {
    digits.push_back("0123456789abcdef"[static_cast<unsigned>(rest % base)]);
    rest /= base;
  } while (rest != 0);
  if (value < 0) digits.push_back('-');
  std::ranges::reverse(digits);
  return digits;
}

std::string format_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  std::string_view written(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t mark = written.find('e');
  const int exponent = std::atoi(std::string(written.substr(mark + 1)).c_str());
  std::string text;
  if (written[0] == '-') {
    text = "-";
    written.remove_prefix(1);
  }
  std::string digits(written.substr(0, written.find('e')));
  std::erase(digits, '.');
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    text += digits[0];
    if (count > 1) text += "." + digits.substr(1);
    return text + fmt::format("e{}{:02d}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return text + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return text + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
  digits.insert(static_cast<size_t>(exponent + 1), ".");
  return text + digits;
}

std::optional<Integer> parse_integer(std::string_view text, int base, bool& overflow) {
  overflow = false;
  text = trim_spaces(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (!take_prefix(text, base) || text.empty()) return std::nullopt;
  Integer value = 0;
  bool after_digit = false;
  for (const char character : text) {
    if (character == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    const int digit = digit_value(character);
    if (digit >= base) return std::nullopt;
    overflow = overflow || __builtin_mul_overflow(value, Integer{base}, &value) ||
               __builtin_sub_overflow(value, Integer{digit}, &value);  // downwards: the minimum fits
    after_digit = true;
  }
  if (!after_digit) return std::nullopt;
  if (!negative && __builtin_sub_overflow(Integer{0}, value, &value)) overflow = true;
  if (overflow) return std::nullopt;
  return value;
}

std::optional<double> parse_float(std::string_view text) {
  text = trim_spaces(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::optional<std::string> plain = remove_underscores(text);
  if (!plain || plain->empty()) return std::nullopt;
  std::string lower = *plain;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  double value = 0;
  if (lower == "inf" || lower == "infinity") {
    value = HUGE_VAL;
  } else if (lower == "nan") {
    value = std::nan("");
  } else {
    if (digit_value(lower[0]) > 9 && lower[0] != '.') return std::nullopt;
    const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), value);
    if (end != lower.data() + lower.size()) return std::nullopt;
    // Beyond a double's range from_chars gives no value; strtod gives infinity or zero, as Python does.
    if (error == std::errc::result_out_of_range) value = std::strtod(lower.c_str(), nullptr);
    if (error == std::errc::invalid_argument) return std::nullopt;
  }
  return negative ? -value : value;
}

double as_double(const Value& value) {
  if (value.is(Kind::kFloat)) return value.number();
  return static_cast<double>(as_integer(value));
}

std::optional<Integer> truncate(double value) {
  if (!(std::fabs(value) < 0x1p126)) return std::nullopt;
  return static_cast<Integer>(value);
}

std::partial_ordering compare_numbers(const Value& left, const Value& right) {
  if (is_integral(left) && is_integral(right)) {
    const Integer a = as_integer(left), b = as_integer(right);
    return a < b   ? std::partial_ordering::less
           : a > b ? std::partial_ordering::greater
                   : std::partial_ordering::equivalent;
  }
  if (!is_integral(left) && !is_integral(right)) return left.number() <=> right.number();
  if (is_integral(right)) return 0 <=> compare_numbers(right, left);
  const double number = right.number();
  const std::optional<Integer> whole = truncate(number);
  if (!whole) return 0.0 <=> number;  // beyond every integer here, or not a number
  const Integer integer = as_integer(left);
  if (integer != *whole)
    return integer < *whole ? std::partial_ordering::less : std::partial_ordering::greater;
  return 0.0 <=> number - std::trunc(number);
}

double round_float(double value, int digits) {
  if (!std::isfinite(value) || digits > 330) return value;
  if (digits < -310) return std::copysign(0.0, value);
  if (digits >= 0) {
    const std::string text = fmt::format("{:.{}f}", value, digits);  // correctly rounded, half to even
    return std::strtod(text.c_str(), nullptr);
  }
  const double scale = std::pow(10.0, -digits);
  return std::nearbyint(value / scale) * scale;
}

}  // namespace tempo9::chat::jinja
