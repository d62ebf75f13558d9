// OpenAI's older Completions: POST /v1/completions. The prompt is the model's input as it stands: special
// tokens written in it are recognised.
#pragma once
#include <memory>
#include <string_view>

#include "server/api/api_error.h"
#include "server/api/api_request.h"
#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

// The body alone, without network or engine.
ApiResult<ApiRequest> parse_openai_completions(std::string_view body, const engine::ModelInfo& model);

void handle_openai_completions(Service& service, HttpRequest request,
                               std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
