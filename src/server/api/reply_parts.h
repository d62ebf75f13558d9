// Small things that stand in the replies of several dialects.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/api/json_parse.h"
#include "server/http/message.h"

namespace tempo9::server {

// "msg_" and "req_0123…" to "msg_0123…": the id in a reply shows by which name the log knows the request.
std::string derive_id(std::string_view prefix, std::string_view request_id);

// RFC 3339: "2025-01-31T12:00:00Z". Seconds since 1970.
std::string utc_time(int64_t seconds);
int64_t seconds_now();

// What the status of a refusal is in most dialects.
int http_status(ErrorCode code);

// Says when to come back, and how to name oneself, where the status needs it.
Response json_response(int status, const Json& body);

}  // namespace tempo9::server
