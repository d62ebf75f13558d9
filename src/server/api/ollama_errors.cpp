#include "server/api/ollama_errors.h"

#include "server/api/reply_parts.h"

namespace tempo9::server {
Json ollama_error_object(const ApiError& error) {
  if (error.code != ErrorCode::kTooLong || error.context_length == 0) return {{"error", error.message}};
  // The protocol has no codes; this one tells programs what the sentence tells people.
  return {{"error",
           fmt::format("the prompt is too long: this model's maximum context length is {} tokens, and the "
                       "{} came to {} tokens",
                       error.context_length, error.param, error.prompt_tokens)},
          {"code", "context_length_exceeded"}};
}

Response ollama_error(const ApiError& error) {
  return json_response(http_status(error.code), ollama_error_object(error));
}

Response ollama_refusal(const Refusal& refusal) {
  return json_response(refusal.status, {{"error", refusal.message}});
}

}  // namespace tempo9::server
