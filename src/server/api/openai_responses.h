// OpenAI's Responses: POST /v1/responses and /v1/responses/input_tokens, and those that are kept:
// GET and DELETE /v1/responses/{id}, GET /v1/responses/{id}/input_items.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_openai_responses(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_response_count(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_kept_response(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);
void handle_response_deletion(Service& service, HttpRequest request,
                              std::shared_ptr<ResponseWriter> response);
// GET /v1/responses asks for a WebSocket. Clients that hear of none there use POST.
void handle_response_socket(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
