// Anthropic's Messages: the bodies of POST /v1/messages and /v1/messages/count_tokens.
#pragma once
#include <string_view>

#include "server/api/api_error.h"
#include "server/api/api_request.h"

namespace tempo9::server {

// Without network or engine. Members that nobody knows are left out, never refused: clients send what other
// versions of the protocol know.
ApiResult<ApiRequest> parse_anthropic_messages(std::string_view body, const engine::ModelInfo& model);

}  // namespace tempo9::server
