// Chat Completions on the way in. The body alone, without network or engine. `model` says what ids there are.
#pragma once
#include <string_view>

#include "server/api/api_error.h"
#include "server/api/api_request.h"

namespace tempo9::server {

ApiResult<ApiRequest> parse_openai_chat(std::string_view body, const engine::ModelInfo& model);

}  // namespace tempo9::server
