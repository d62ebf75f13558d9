// Ollama: POST /api/chat and /api/generate.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_ollama_chat(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_ollama_generate(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
