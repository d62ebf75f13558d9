// OpenAI's Responses: the body of POST /v1/responses.
#pragma once
#include <string_view>

#include "server/api/api_error.h"
#include "server/api/api_request.h"

namespace tempo9::server {

// Without network or engine. Nothing is kept between requests, so what refers to an earlier response is
// refused by name; members that nobody knows are left out.
ApiResult<ApiRequest> parse_openai_responses(std::string_view body, const engine::ModelInfo& model);

}  // namespace tempo9::server
