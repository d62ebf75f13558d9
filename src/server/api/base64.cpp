#include "server/api/base64.h"

#include <cstdint>
#include <utility>

namespace tempo9::server {
namespace {

// Tells reasoning of this server from that of others.
constexpr std::string_view kReasoningMark = "tempo9:";

// -1: no digit of base64. Both alphabets, that of the standard and that for URLs.
int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

}  // namespace

std::string encode_base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i)
      bits = (bits << 8) | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0u);
    for (size_t i = 0; i < 4; ++i) text += i <= three.size() ? kDigits[(bits >> (18 - 6 * i)) & 63] : '=';
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t bits = 0;
  size_t digits = 0, padding = 0;
  for (const char c : text) {
    if (c == '\r' || c == '\n') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int digit = digit_of(c);
    if (digit < 0 || padding > 0) return std::nullopt;
    bits = (bits << 6) | static_cast<uint32_t>(digit);
    // The first digit of four completes no byte, each of the others one.
    if (digits++ % 4 != 0) bytes += static_cast<char>((bits >> (8 - digits % 4 * 2) % 8) & 0xFF);
  }
  const bool whole = digits % 4 != 1 && padding <= 2 && (padding == 0 || (digits + padding) % 4 == 0);
  return whole ? std::optional(std::move(bytes)) : std::nullopt;
}

std::string pack_reasoning(std::string_view reasoning) {
  return std::string(kReasoningMark) + encode_base64(reasoning);
}

std::optional<std::string> unpack_reasoning(std::string_view packed) {
  if (!packed.starts_with(kReasoningMark)) return std::nullopt;
  return decode_base64(packed.substr(kReasoningMark.size()));
}

}  // namespace tempo9::server
