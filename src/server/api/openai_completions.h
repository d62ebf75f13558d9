// OpenAI's older Completions: POST /v1/completions. The prompt is the model's input as it stands: special
// tokens written in it are recognised.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_openai_completions(Service& service, HttpRequest request,
                               std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
