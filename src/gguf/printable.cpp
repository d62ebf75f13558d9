#include "gguf/printable.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace tempo9::gguf {
namespace {

struct Character {
  char32_t code;
  size_t bytes;  // 0: not UTF-8
};

// The bounds on the first continuation byte are those of table 3-7 of the Unicode standard: they exclude
// overlong forms, surrogates and what lies beyond U+10FFFF.
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {0, 0};
  const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < low || byte(1) > high) return {0, 0};
  char32_t code = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  return {code, length};
}

bool is_visible(char32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;  // C0, DEL, C1
  if (code >= 0x200b && code <= 0x200f) return false;              // zero widths, direction marks
  if (code >= 0x2028 && code <= 0x202e) return false;              // line separators, direction overrides
  if (code >= 0x2060 && code <= 0x206f) return false;              // invisible operators, isolates
  if (code == 0xad || code == 0x61c || code == 0xfeff) return false;
  return code < 0xe0000 || code > 0xe0fff;  // tags
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Character character = first_character(bytes);
    if (character.bytes == 0) return false;
    bytes.remove_prefix(character.bytes);
  }
  return true;
}

std::string printable(std::string_view bytes, size_t limit) {
  std::string out;
  const auto append = std::back_inserter(out);
  for (size_t shown = 0; !bytes.empty(); ++shown) {
    if (shown == limit) return out + "…";
    const auto [code, length] = first_character(bytes);
    if (length == 0) {
      fmt::format_to(append, "\\x{:02x}", static_cast<uint8_t>(bytes[0]));
    } else if (code == '\n') {
      out += "\\n";
    } else if (code == '\t') {
      out += "\\t";
    } else if (code == '\\') {
      out += "\\\\";
    } else if (!is_visible(code)) {
      fmt::format_to(append, "\\u{{{:x}}}", static_cast<uint32_t>(code));
    } else {
      out += bytes.substr(0, length);
    }
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace tempo9::gguf
