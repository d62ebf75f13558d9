// OpenAI Chat Completions: POST /v1/chat/completions.
#pragma once
#include <memory>
#include <string_view>

#include "server/api/api_error.h"
#include "server/api/api_request.h"
#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

// The body alone, without network or engine. `model` says what ids there are.
ApiResult<ApiRequest> parse_openai_chat(std::string_view body, const engine::ModelInfo& model);

void handle_openai_chat(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
