// OpenAI's Embeddings: POST /v1/embeddings.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_openai_embeddings(Service& service, HttpRequest request,
                              std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
