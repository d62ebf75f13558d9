// Ollama: the bodies of POST /api/chat and POST /api/generate.
#pragma once
#include <string_view>

#include "server/api/api_error.h"
#include "server/api/api_request.h"

namespace tempo9::server {

// Without network or engine. Replies are streamed unless the request says otherwise. A request without
// messages (or prompt) asks for the model to be loaded and gives a conversation without messages.
ApiResult<ApiRequest> parse_ollama_chat(std::string_view body, const engine::ModelInfo& model);

// A conversation of one message behind `system`, or with `raw` the prompt as it stands.
ApiResult<ApiRequest> parse_ollama_generate(std::string_view body, const engine::ModelInfo& model);

}  // namespace tempo9::server
