// OpenAI's Responses: the body of POST /v1/responses.
#pragma once
#include <string_view>

#include "server/api/api_error.h"
#include "server/api/api_request.h"
#include "server/api/json_parse.h"

namespace tempo9::server {

// Without network or engine. Members that nobody knows are left out.
ApiResult<ApiRequest> parse_openai_responses(std::string_view body, const engine::ModelInfo& model);

// The same, once it is JSON. What `previous_response_id` stands for must have been put in front of `input`.
ApiResult<ApiRequest> read_openai_responses(const Json& body, const engine::ModelInfo& model);

}  // namespace tempo9::server
