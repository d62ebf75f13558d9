#include "server/api/anthropic_errors.h"

#include <string>

#include "server/api/reply_parts.h"

namespace tempo9::server {
namespace {

// Its own status for a server that is busy.
constexpr int kOverloaded = 529;

int anthropic_status(ErrorCode code) {
  const int status = http_status(code);
  return status == 503 ? kOverloaded : status;
}

const char* anthropic_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
    case kOverloaded:
      return "overloaded_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

Json make_error(int status, std::string_view message, std::string_view request_id) {
  Json body = {{"type", "error"}, {"error", {{"type", anthropic_type(status)}, {"message", message}}}};
  if (!request_id.empty()) body["request_id"] = request_id;
  return body;
}

}  // namespace

Json anthropic_error_object(const ApiError& error, std::string_view request_id) {
  const int status = anthropic_status(error.code);
  if (error.code != ErrorCode::kTooLong || error.context_length == 0)
    return make_error(status, error.message, request_id);
  // Clients know an over-long prompt by this sentence and shorten the conversation.
  Json body = make_error(status,
                         fmt::format("prompt is too long: {} tokens > {} maximum", error.prompt_tokens,
                                     error.context_length - 1),
                         request_id);
  body["error"]["code"] = "context_length_exceeded";
  return body;
}

Response anthropic_error(const ApiError& error, std::string_view request_id) {
  return json_response(anthropic_status(error.code), anthropic_error_object(error, request_id));
}

Response anthropic_refusal(const Refusal& refusal) {
  return json_response(refusal.status, make_error(refusal.status, refusal.message, ""));
}

}  // namespace tempo9::server
