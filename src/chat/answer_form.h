// What a reply looks like whose answer must have a form.
#pragma once
#include "chat/reasoning.h"
#include "grammar/form.h"

namespace tempo9::chat {

// A reply that may think as `start` says, freely, and then gives `answer` and nothing else.
grammar::Form answer_form(const ReplyStart& start, grammar::Form answer);

}  // namespace tempo9::chat
