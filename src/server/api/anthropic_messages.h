// Anthropic's Messages: POST /v1/messages and /v1/messages/count_tokens.
#pragma once
#include <memory>

#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

void handle_anthropic_messages(Service& service, HttpRequest request,
                               std::shared_ptr<ResponseWriter> response);
// Renders and tokenises in the connection's turn; the engine has no part in it.
void handle_anthropic_count(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
