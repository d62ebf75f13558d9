// Ollama's error object: {"error": "…"}.
#pragma once
#include "server/api/api_error.h"
#include "server/api/json_parse.h"
#include "server/http/message.h"

namespace tempo9::server {

// For the body of an answer, or for a line inside a stream.
Json ollama_error_object(const ApiError& error);
Response ollama_error(const ApiError& error);
// For requests that were turned away by their head or their shape.
Response ollama_refusal(const Refusal& refusal);

}  // namespace tempo9::server
