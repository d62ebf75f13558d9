// OpenAI's error object: {"error": {"message", "type", "param", "code"}}.
#pragma once
#include "server/api/api_error.h"
#include "server/api/json_parse.h"
#include "server/http/message.h"

namespace tempo9::server {

// For the body of an answer, or for an event inside a stream.
Json openai_error_object(const ApiError& error);
Response openai_error(const ApiError& error);
// With a code and status of the endpoint's own.
Response openai_error(const ApiError& error, const char* code, int status);
// For requests that were turned away by their head or their shape.
Response openai_refusal(const Refusal& refusal);

}  // namespace tempo9::server
