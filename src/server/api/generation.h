// The way from a request to a reply, the same for every dialect: render, prepare, submit, spell, and hand
// deltas to the dialect's writer. A client that leaves cancels what runs for it.
#pragma once
#include <memory>

#include "server/api/api_request.h"
#include "server/api/chat_delta.h"
#include "server/api/service.h"
#include "server/http/response_writer.h"

namespace tempo9::server {

// In a turn of the session; returns once the engine has the request. `reply` writes to `response`, which is
// kept until the reply is complete.
void start_generation(Service& service, ApiRequest request, std::unique_ptr<ReplyWriter> reply,
                      std::shared_ptr<ResponseWriter> response);

}  // namespace tempo9::server
