// Anthropic's `system` and `messages` to a conversation.
#pragma once
#include <string>
#include <vector>

#include "chat/chat_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// After the tools, because a `tool_reference` declares one of them where it stands. Results of tools become
// messages of their own, in the place and order they have in the user's message; system messages stay in
// their place. Cache marks, signatures and ids of blocks are left out; kinds of block that only Anthropic's
// servers make are left out and named in `left_out`.
void read_anthropic_content(Fields& fields, chat::ChatRequest& conversation,
                            std::vector<std::string>& left_out);

}  // namespace tempo9::server
