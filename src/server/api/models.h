// GET /v1/models and /v1/models/{id}: one body that OpenAI's and Anthropic's clients both read.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_models(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_model(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
