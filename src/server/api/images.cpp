#include "server/api/images.h"

#include <cstdint>
#include <utility>

namespace tempo9::server {
namespace {

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

void add_image(chat::Message& message, std::string_view base64, const FieldPath& path, Faults& faults) {
  std::optional<std::string> bytes = decode_base64(base64);
  if (!bytes || bytes->empty())
    return faults.report(ErrorCode::kInvalidArgument, path, "expected a picture's bytes in base64");
  message.content.push_back({chat::ContentPart::Kind::kImage, {}, *std::move(bytes)});
  faults.report_gap(path, "this model does not take images");
}

void add_image_url(chat::Message& message, std::string_view url, const FieldPath& path, Faults& faults) {
  constexpr std::string_view kScheme = "data:", kBase64 = ";base64";
  if (!url.starts_with(kScheme))
    return faults.report(ErrorCode::kUnsupported, path,
                         "this server fetches nothing; send the image as a data: URL");
  const size_t comma = url.find(',');
  if (comma == url.npos || !url.substr(0, comma).ends_with(kBase64))
    return faults.report(ErrorCode::kInvalidArgument, path, "expected data:image/…;base64, and the bytes");
  add_image(message, url.substr(comma + 1), path, faults);
}

}  // namespace tempo9::server
