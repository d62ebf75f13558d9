#include "server/api/reply_parts.h"

#include <fmt/format.h>

#include <ctime>

namespace tempo9::server {
namespace {

constexpr const char* kRetryAfterSeconds = "2";

}  // namespace

std::string derive_id(std::string_view prefix, std::string_view request_id) {
  return fmt::format("{}{}", prefix, request_id.substr(request_id.find('_') + 1));
}

std::string utc_time(int64_t seconds) {
  const auto moment = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  gmtime_r(&moment, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, length);
}

int64_t seconds_now() {
  return static_cast<int64_t>(std::time(nullptr));
}

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnsupported:
    case ErrorCode::kTooLong:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kBusy:
    case ErrorCode::kCancelled:
    case ErrorCode::kOutOfMemory:
      return 503;
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      break;
  }
  return 500;
}

Response json_response(int status, const Json& body) {
  Response response{status, {{"Content-Type", "application/json"}}, dump_json(body)};
  const bool later = status == 429 || status == 503 || status == 529;
  if (later) response.headers.emplace_back("Retry-After", kRetryAfterSeconds);
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace tempo9::server
