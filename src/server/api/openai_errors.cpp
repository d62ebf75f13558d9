#include "server/api/openai_errors.h"

#include "server/api/reply_parts.h"

namespace tempo9::server {
namespace {

struct Meaning {
  const char* type;
  const char* code;  // null: none
};

Meaning meaning_of(ErrorCode code) {
  constexpr const char* kRequest = "invalid_request_error";
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return {kRequest, "invalid_value"};
    case ErrorCode::kNotFound:
      return {kRequest, "model_not_found"};
    case ErrorCode::kUnsupported:
      return {kRequest, "unsupported_parameter"};
    case ErrorCode::kTooLong:
      return {kRequest, "context_length_exceeded"};
    case ErrorCode::kBusy:
      return {"server_error", "server_busy"};
    case ErrorCode::kCancelled:
      return {"server_error", "server_stopping"};
    case ErrorCode::kOutOfMemory:
      return {"server_error", "out_of_memory"};
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      break;
  }
  return {"server_error", nullptr};
}

// Clients know an over-long prompt by this sentence and shorten the conversation.
std::string too_long_message(const ApiError& error) {
  const std::string& what = error.param;  // messages, prompt, input
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

}  // namespace

Json openai_error_object(const ApiError& error) {
  const Meaning meaning = meaning_of(error.code);
  const bool has_numbers = error.code == ErrorCode::kTooLong && error.context_length > 0;
  return error_object(has_numbers ? too_long_message(error) : error.message, meaning.type, error.param,
                      meaning.code);
}

Response openai_error(const ApiError& error) {
  return json_response(http_status(error.code), openai_error_object(error));
}

Response openai_error(const ApiError& error, const char* code, int status) {
  return json_response(status, error_object(error.message, meaning_of(error.code).type, error.param, code));
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
