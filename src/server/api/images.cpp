#include "server/api/images.h"

#include <utility>

#include "server/api/base64.h"

namespace tempo9::server {
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
