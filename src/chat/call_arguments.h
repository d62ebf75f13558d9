// What stands between a call's name and its end, as a form.
#pragma once
#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/parsers/styles.h"
#include "grammar/form.h"

namespace tempo9::chat {

// `text` of a style, in which its markers may be control tokens.
grammar::Form call_markup(const CallStyle& style, std::string_view text);

// The arguments of a strict tool follow its schema, the text of a free-form tool its grammar. Others follow
// their schema where it can be kept, and are any object where it cannot. Errors name the tool.
Result<grammar::Form> argument_form(const CallStyle& style, const Tool& tool);

}  // namespace tempo9::chat
