// What Ollama's clients ask about models: GET /api/tags, /api/ps and /api/version, POST /api/show and
// /api/pull.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_ollama_tags(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_ollama_running(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_ollama_version(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_ollama_show(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
// Fetches nothing: succeeds for what is served anyway.
void handle_ollama_pull(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
