// Ollama: POST /api/embed, and the older /api/embeddings for a single text.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_ollama_embed(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_ollama_embeddings(Service& service, HttpRequest request,
                              std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
