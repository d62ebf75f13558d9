// Anthropic's error object: {"type": "error", "error": {"type", "message"}, "request_id"}.
#pragma once
#include <string_view>

#include "server/api/api_error.h"
#include "server/api/json_parse.h"
#include "server/http/message.h"

namespace tempo9::server {

// For the body of an answer, or for an event inside a stream.
Json anthropic_error_object(const ApiError& error, std::string_view request_id);
Response anthropic_error(const ApiError& error, std::string_view request_id);
// For requests that were turned away by their head or their shape.
Response anthropic_refusal(const Refusal& refusal);

}  // namespace tempo9::server
