#include "grammar/utf8.h"

#include "text/utf8.h"

namespace tempo9::grammar {

char32_t next_code_point(std::string_view text, size_t& at) {
  constexpr char32_t kReplacement = 0xFFFD;
  const text::Utf8Step step = text::first_character(text.substr(at));
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  char32_t code_point = kReplacement;
  if (step.valid) {
    constexpr char32_t kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    code_point = byte(0) & kLeadBits[step.bytes];
    for (int i = 1; i < step.bytes; ++i) code_point = code_point << 6 | (byte(static_cast<size_t>(i)) & 0x3F);
  }
  at += static_cast<size_t>(step.bytes);
  return code_point;
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  const auto follow = [&](int shift) { put(0x80 | (code_point >> shift & 0x3F)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    follow(6);
  } else {
    put(0xF0 | code_point >> 18);
    follow(12);
    follow(6);
  }
  follow(0);
}

std::u32string code_points(std::string_view text) {
  std::u32string result;
  for (size_t at = 0; at < text.size();) result += next_code_point(text, at);
  return result;
}

}  // namespace tempo9::grammar
