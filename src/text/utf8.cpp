#include "text/utf8.h"

#include <cstdint>
#include <cstring>

namespace tempo9::text {
namespace {

struct Lead {
  int bytes;                // of the whole character; 0: cannot begin one
  uint8_t lowest, highest;  // of the second byte; the others are 80..BF
};

Lead describe_lead(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Step first_character(std::string_view text) {
  const Lead lead = describe_lead(static_cast<uint8_t>(text[0]));
  if (lead.bytes == 0) return {1, false, false};
  uint8_t lowest = lead.lowest, highest = lead.highest;
  for (int i = 1; i < lead.bytes; ++i) {
    if (static_cast<size_t>(i) == text.size()) return {i, false, true};
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < lowest || byte > highest) return {i, false, false};
    lowest = 0x80;
    highest = 0xBF;
  }
  return {lead.bytes, true, false};
}

size_t valid_prefix(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t at = 0;
  while (at < text.size()) {
    uint64_t word;
    if (at + sizeof(word) <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof(word));
      if ((word & kHighBits) == 0) {
        at += sizeof(word);
        continue;
      }
    }
    const Utf8Step step = first_character(text.substr(at));
    if (!step.valid) break;
    at += static_cast<size_t>(step.bytes);
  }
  return at;
}

}  // namespace tempo9::text
