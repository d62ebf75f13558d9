// OpenAI's `messages` to a conversation.
#pragma once
#include "chat/chat_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

void read_messages(Fields& fields, chat::ChatRequest& conversation);

}  // namespace tempo9::server
