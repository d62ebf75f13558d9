// The smallest changes to a list of messages that make a template accept it. Every rule works in place: text
// never moves to another place of the conversation, and what a rule does to a message depends on the messages
// before it, so a request that only extends an earlier one extends its prompt, too. In this order:
//
//  1. A developer message is a system message. A tool result without its function's name gets it from the
//     call.
//  2. Calls that the template does not show are written into the assistant's text, one JSON line each, and
//     their results become user messages.
//  3. A turn with several calls, where only one is allowed, becomes one turn for each call, each followed by
//     its results.
//  4. Images in tools' results, where only text is shown there, become a user message behind the results.
//  5. A system message that is refused (or lost, or moved) becomes a user message.
//  6. Reasoning and text beside a call, where only one of them is allowed, become one reasoning.
//  7. Text beside a call, where it is not shown, becomes an assistant turn of its own in front of the call.
//  8. Neighbours of one role, where that is refused, become one message: their texts with an empty line
//     between.
//  9. A user message behind a tool's result, where that is refused, gets an empty assistant message in front;
//     if that is refused, too, its text is appended to the result.
// 10. A conversation that must not begin with an assistant message gets an empty user message in front.
// 11. Call ids, where nine letters or digits are demanded, are replaced by nine that are made from them.
#pragma once
#include <vector>

#include "chat/chat_request.h"
#include "chat/template_traits.h"

namespace tempo9::chat {

std::vector<Message> rewrite(std::vector<Message> messages, const TemplateTraits& traits);

}  // namespace tempo9::chat
