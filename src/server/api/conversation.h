// What the dialects share in building a conversation.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "chat/chat_request.h"
#include "server/api/fields.h"

namespace tempo9::server {

// `role`; nothing, and a fault, if it is none of these.
std::optional<chat::Role> read_role(Fields& fields, std::span<const chat::Role> allowed);

void add_text(chat::Message& message, std::string text);

// The arguments of a call that came as text in the member `name`: an object where the text is one, otherwise
// the text itself. Those of all calls share the bound of one body.
Json parse_arguments(Fields& call, std::string_view name, const std::string& text);

// How hard the model should think, as the client says it: "none" turns thinking off, any other word turns it
// on unless the client has said otherwise.
void set_effort(chat::ChatRequest& conversation, std::string_view effort);

// Claude Code (and proxies in front of it) begins the first system message with a line of its own that says
// which version and which agent is asking. It differs from request to request and means nothing to a model,
// so it would only make every prompt a new one. Taken out there and nowhere else.
void drop_attribution(chat::ChatRequest& conversation);

// The end of reading: what the whole conversation must satisfy. `field` is where its messages stand.
void require_messages(const chat::ChatRequest& conversation, Fields& fields, std::string_view field);

}  // namespace tempo9::server
