#include "text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace tempo9::text {
namespace {

constexpr int kLetters = 256 + 68;  // code points below this may be letters of the alphabet

constexpr bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

// The byte of each letter; -1 for what is no letter.
constexpr std::array<int16_t, kLetters> make_bytes() {
  std::array<int16_t, kLetters> bytes{};
  for (auto& byte : bytes) byte = -1;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte)
    bytes[stands_for_itself(byte) ? byte : next++] = static_cast<int16_t>(byte);
  return bytes;
}

constexpr std::array<int16_t, kLetters> kBytes = make_bytes();

}  // namespace

std::optional<std::string> decode_byte_alphabet(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const Utf8Step step = first_character(text);
    if (!step.valid || step.bytes > 2) return std::nullopt;
    int letter = static_cast<uint8_t>(text[0]);
    if (step.bytes == 2) letter = (letter & 0x1F) << 6 | (static_cast<uint8_t>(text[1]) & 0x3F);
    if (letter >= kLetters || kBytes[letter] < 0) return std::nullopt;
    bytes += static_cast<char>(kBytes[letter]);
    text.remove_prefix(static_cast<size_t>(step.bytes));
  }
  return bytes;
}

}  // namespace tempo9::text
