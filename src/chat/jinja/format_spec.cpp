#include "chat/jinja/format_spec.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "chat/jinja/number.h"
#include "chat/jinja/print.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

Result<size_t> read_count(std::string_view& spec) {
  size_t value = 0;
  while (!spec.empty() && spec[0] >= '0' && spec[0] <= '9') {
    value = value * 10 + static_cast<size_t>(spec[0] - '0');
    if (value > limits::kMaxTemplateMemoryBytes) {
      return fail(ErrorCode::kInvalidArgument, "Too many decimal digits in format string");
    }
    spec.remove_prefix(1);
  }
  return value;
}

bool take(std::string_view& spec, char c) {
  if (!spec.starts_with(c)) return false;
  spec.remove_prefix(1);
  return true;
}

// Pads a sign or prefix plus digits to the spec's width.
Result<Text> pad(Runtime& runtime, std::string_view lead, const Text& body, const FormatSpec& spec,
                 char default_align) {
  const char align = spec.align != 0 ? spec.align : default_align;
  const size_t length = unicode::count(lead) + unicode::count(body.view());
  const size_t missing = spec.width > length ? spec.width - length : 0;
  const size_t most = lead.size() + body.size() + missing * spec.fill.size();
  TRY(runtime.reserve(most));
  const size_t left = align == '>' || align == '=' ? missing : align == '^' ? missing / 2 : 0;
  Text padded(runtime.meter());
  padded.reserve(most);
  const auto fill = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) padded.append(spec.fill);
  };
  if (align == '=') padded.append(lead);
  fill(left);
  if (align != '=') padded.append(lead);
  padded.append(body);
  fill(missing - left);
  runtime.charge_bytes(padded.size());
  return padded;
}

void group_digits(std::string& digits, char separator, size_t size) {
  const size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  for (size_t at = whole; at > size; at -= size) digits.insert(at - size, 1, separator);
}

std::string sign_text(bool negative, char sign) {
  if (negative) return "-";
  return sign == '-' ? "" : std::string(1, sign);
}

Result<Text> format_integer_value(Runtime& runtime, Integer value, const FormatSpec& spec) {
  if (spec.precision) {
    return fail(ErrorCode::kInvalidArgument, "Precision not allowed in integer format specifier");
  }
  unsigned base = 10;
  std::string prefix;
  switch (spec.type) {
    case 'b':
      base = 2;
      prefix = "0b";
      break;
    case 'o':
      base = 8;
      prefix = "0o";
      break;
    case 'x':
    case 'X':
      base = 16;
      prefix = spec.type == 'x' ? "0x" : "0X";
      break;
    case 'c': {
      if (value < 0 || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
        return fail(ErrorCode::kInvalidArgument, "%c arg not in range(0x110000)");
      }
      std::string character;
      unicode::append(character, static_cast<char32_t>(value));
      return pad(runtime, "", Text(std::move(character)), spec, '<');
    }
    default:
      break;
  }
  std::string digits = format_integer(value, base);
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  if (spec.type == 'X') {
    for (char& c : digits) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (spec.grouping != 0) group_digits(digits, spec.grouping, base == 10 ? 3 : 4);
  return pad(runtime, sign_text(negative, spec.sign) + (spec.alternate ? prefix : ""),
             Text(std::move(digits)), spec, '>');
}

std::string write_float(double value, const FormatSpec& spec) {
  const size_t digits = spec.precision.value_or(6);
  switch (spec.type) {
    case 'e':
      return spec.alternate ? fmt::format("{:#.{}e}", value, digits) : fmt::format("{:.{}e}", value, digits);
    case 'E':
      return spec.alternate ? fmt::format("{:#.{}E}", value, digits) : fmt::format("{:.{}E}", value, digits);
    case 'f':
    case 'F':
      return spec.alternate ? fmt::format("{:#.{}f}", value, digits) : fmt::format("{:.{}f}", value, digits);
    case '%':
      return fmt::format("{:.{}f}", value * 100, digits) + "%";
    case 'g':
    case 'n':
      return spec.alternate ? fmt::format("{:#.{}g}", value, digits) : fmt::format("{:.{}g}", value, digits);
    case 'G':
      return spec.alternate ? fmt::format("{:#.{}G}", value, digits) : fmt::format("{:.{}G}", value, digits);
    default:
      break;
  }
  if (!spec.precision) return format_float(value);
  std::string text = fmt::format("{:.{}g}", value, digits);
  if (text.find_first_not_of("0123456789") == text.npos) text += ".0";
  return text;
}

Result<Text> format_float_value(Runtime& runtime, double value, const FormatSpec& spec) {
  // The library's buffer grows, and its text is copied out of it.
  TRY(runtime.reserve(4 * (spec.precision.value_or(0) + 400)));
  std::string digits = write_float(std::fabs(value), spec);
  if (!std::isfinite(value)) {
    digits = std::isnan(value) ? "nan" : "inf";
    if (spec.type == 'E' || spec.type == 'F' || spec.type == 'G') digits = std::isnan(value) ? "NAN" : "INF";
    if (spec.type == '%') digits += "%";
  }
  if (spec.grouping != 0) group_digits(digits, spec.grouping, 3);
  return pad(runtime, sign_text(std::signbit(value) && !std::isnan(value), spec.sign),
             Text(std::move(digits)), spec, '>');
}

tl::unexpected<Error> unknown_type(char type, const Value& value) {
  return fail(ErrorCode::kInvalidArgument, "Unknown format code '{}' for object of type '{}'", type,
              value.type_name());
}

}  // namespace

Result<FormatSpec> parse_format_spec(std::string_view spec) {
  FormatSpec parsed;
  if (!spec.empty()) {
    const size_t first = unicode::decode(spec, 0).length;
    if (spec.size() > first && is_align(spec[first])) {
      parsed.fill = spec.substr(0, first);
      parsed.align = spec[first];
      spec.remove_prefix(first + 1);
    } else if (is_align(spec[0])) {
      parsed.align = spec[0];
      spec.remove_prefix(1);
    }
  }
  if (!spec.empty() && (spec[0] == '+' || spec[0] == '-' || spec[0] == ' ')) {
    parsed.sign = spec[0];
    spec.remove_prefix(1);
  }
  parsed.alternate = take(spec, '#');
  if (take(spec, '0') && parsed.align == 0) {
    parsed.fill = "0";
    parsed.align = '=';
  }
  TRY_ASSIGN(parsed.width, read_count(spec));
  if (!spec.empty() && (spec[0] == ',' || spec[0] == '_')) {
    parsed.grouping = spec[0];
    spec.remove_prefix(1);
  }
  if (take(spec, '.')) {
    if (spec.empty() || spec[0] < '0' || spec[0] > '9') {
      return fail(ErrorCode::kInvalidArgument, "Format specifier missing precision");
    }
    TRY_ASSIGN(parsed.precision, read_count(spec));
  }
  if (spec.size() > 1) return fail(ErrorCode::kInvalidArgument, "Invalid format specifier");
  if (!spec.empty()) parsed.type = spec[0];
  return parsed;
}

Result<Text> format_string(Runtime& runtime, const Text& text, const FormatSpec& spec, char default_align) {
  if (!spec.precision) return pad(runtime, "", text, spec, default_align);
  return pad(runtime, "", text.slice(0, unicode::offset(text.view(), *spec.precision)), spec, default_align);
}

Result<Text> format_number(Runtime& runtime, const Value& number, const FormatSpec& spec) {
  const bool integral = is_integral(number);
  switch (spec.type) {
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case '%':
      return format_float_value(runtime, as_double(number), spec);
    case 0:
    case 'n':
      if (integral) return format_integer_value(runtime, as_integer(number), spec);
      return format_float_value(runtime, number.number(), spec);
    case 'b':
    case 'c':
    case 'd':
    case 'o':
    case 'x':
    case 'X':
      if (integral) return format_integer_value(runtime, as_integer(number), spec);
      break;
    default:
      break;
  }
  return unknown_type(spec.type, number);
}

Result<Text> format_value(Runtime& runtime, const Value& value, const FormatSpec& spec) {
  if (is_number(value)) return format_number(runtime, value, spec);
  if (value.is_string()) {
    if (spec.type != 0 && spec.type != 's') return unknown_type(spec.type, value);
    if (spec.align == '=' && spec.fill != "0") {
      return fail(ErrorCode::kInvalidArgument, "'=' alignment not allowed in string format specifier");
    }
    FormatSpec plain = spec;
    if (plain.align == '=') plain.align = '<';  // a bare 0 in front of the width only sets the fill
    return format_string(runtime, value.text(), plain, '<');
  }
  return fail(ErrorCode::kInvalidArgument, "unsupported format string passed to {}.__format__",
              value.type_name());
}

}  // namespace tempo9::chat::jinja
