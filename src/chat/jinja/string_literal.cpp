#include "chat/jinja/string_literal.h"

#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

// The character a one-letter escape stands for; -1 if the letter is none.
int simple_escape(char letter) {
  switch (letter) {
    case '\\':
    case '\'':
    case '"':
      return letter;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return -1;
  }
}

size_t hex_digits(char letter) {
  return letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
}

Result<char32_t> read_hex(std::string_view digits, size_t count) {
  char32_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    const char c = i < digits.size() ? digits[i] : '\0';
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<char32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<char32_t>(lower - 'a' + 10);
    } else {
      return fail(ErrorCode::kInvalidArgument, "a hexadecimal escape is cut short");
    }
  }
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
    return fail(ErrorCode::kInvalidArgument, "an escape names no Unicode character");
  }
  return value;
}

}  // namespace

Result<std::string> unescape_string(std::string_view body) {
  std::string text;
  text.reserve(body.size());
  for (size_t at = 0; at < body.size();) {
    if (body[at] != '\\' || at + 1 == body.size()) {
      text.push_back(body[at++]);
      continue;
    }
    const char letter = body[at + 1];
    at += 2;
    if (letter == '\n') continue;  // a line that goes on
    if (const int character = simple_escape(letter); character >= 0) {
      text.push_back(static_cast<char>(character));
    } else if (const size_t count = hex_digits(letter); count > 0) {
      TRY_ASSIGN(const char32_t value, read_hex(body.substr(at), count));
      unicode::append(text, value);
      at += count;
    } else if (letter >= '0' && letter <= '7') {
      char32_t value = static_cast<char32_t>(letter - '0');
      for (int i = 0; i < 2 && at < body.size() && body[at] >= '0' && body[at] <= '7'; ++i) {
        value = value * 8 + static_cast<char32_t>(body[at++] - '0');
      }
      unicode::append(text, value);
    } else if (letter == 'N') {
      return fail(ErrorCode::kUnsupported, "\\N{{…}} escapes are not supported");
    } else {
      text.push_back('\\');
      text.push_back(letter);
    }
  }
  return text;
}

}  // namespace tempo9::chat::jinja
