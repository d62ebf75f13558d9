// What a reply must look like, by what the request says of its text and of its tool calls.
#pragma once
#include <optional>

#include "chat/call_grammar.h"
#include "server/api/api_request.h"
#include "server/api/prompts.h"

namespace tempo9::server {

// Of a reply that begins as `start` says; nothing if it may be any text.
ApiResult<std::optional<grammar::Form>> reply_form(const ApiRequest& request, const chat::ReplyStart& start);

// Where in the request the form comes from.
std::string form_field(const ApiRequest& request);

}  // namespace tempo9::server
