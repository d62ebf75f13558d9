#include "server/api/openai_errors.h"

namespace tempo9::server {
namespace {

constexpr const char* kRetryAfterSeconds = "2";

struct Meaning {
  int status;
  const char* type;
  const char* code;  // null: none
};

Meaning meaning_of(ErrorCode code) {
  constexpr const char* kRequest = "invalid_request_error";
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return {400, kRequest, "invalid_value"};
    case ErrorCode::kNotFound:
      return {404, kRequest, "model_not_found"};
    case ErrorCode::kUnsupported:
      return {400, kRequest, "unsupported_parameter"};
    case ErrorCode::kTooLong:
      return {400, kRequest, "context_length_exceeded"};
    case ErrorCode::kBusy:
      return {503, "server_error", "server_busy"};
    case ErrorCode::kCancelled:
      return {503, "server_error", "server_stopping"};
    case ErrorCode::kOutOfMemory:
      return {503, "server_error", "out_of_memory"};
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      break;
  }
  return {500, "server_error", nullptr};
}

// Clients know an over-long prompt by this sentence and shorten the conversation.
std::string too_long_message(const ApiError& error) {
  const char* what = error.param == "prompt" ? "prompt" : "messages";
  return fmt::format(
      "This model's maximum context length is {} tokens. However, your {} resulted in {} tokens. Please "
      "reduce "
      "the length of the {}.",
      error.context_length, what, error.prompt_tokens, what);
}

Json error_object(std::string_view message, const char* type, const std::string& param, const char* code) {
  return {{"error",
           {{"message", message},
            {"type", type},
            {"param", param.empty() ? Json() : Json(param)},
            {"code", code == nullptr ? Json() : Json(code)}}}};
}

Response json_response(int status, const Json& body) {
  Response response{status, {{"Content-Type", "application/json"}}, dump_json(body)};
  if (status == 503 || status == 429) response.headers.emplace_back("Retry-After", kRetryAfterSeconds);
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace

Json openai_error_object(const ApiError& error) {
  const Meaning meaning = meaning_of(error.code);
  const bool has_numbers = error.code == ErrorCode::kTooLong && error.context_length > 0;
  return error_object(has_numbers ? too_long_message(error) : error.message, meaning.type, error.param,
                      meaning.code);
}

Response openai_error(const ApiError& error) {
  return json_response(meaning_of(error.code).status, openai_error_object(error));
}

Response openai_refusal(const Refusal& refusal) {
  const char* type = refusal.status >= 500 ? "server_error" : "invalid_request_error";
  const char* code = nullptr;
  switch (refusal.status) {
    case 401:
      code = "invalid_api_key";
      break;
    case 403:
      code = "forbidden";
      break;
    case 404:
      code = "unknown_url";
      break;
    case 405:
      code = "method_not_allowed";
      break;
    case 408:
      code = "request_timeout";
      break;
    case 413:
      code = "request_too_large";
      break;
    case 431:
      code = "headers_too_large";
      break;
    case 503:
      code = "server_busy";
      break;
    default:
      break;
  }
  return json_response(refusal.status, error_object(refusal.message, type, "", code));
}

}  // namespace tempo9::server
