// The `instructions` and `input` of a Responses request to a conversation.
#pragma once
#include <string>
#include <vector>

#include "chat/chat_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// After the tools. Neighbouring items of the model (reasoning, a message, calls) are one assistant turn. Ids,
// states and sealed reasoning are left out; items of tools that OpenAI's servers run are left out and named
// in `left_out`. Tools that a search has found are added to the conversation's.
void read_responses_input(Fields& fields, chat::ChatRequest& conversation,
                          std::vector<std::string>& left_out);

}  // namespace tempo9::server
