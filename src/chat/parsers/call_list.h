// Several calls in brackets, with commas between them: what styles write alike whose calls differ.
#pragma once
#include "chat/parsers/answer.h"
#include "chat/parsers/source.h"

namespace tempo9::chat {

// The next byte is the bracket. `read_call` takes one call, whose name and arguments it gives to the answer;
// each is complete, and out, when it ends.
Reading<bool> read_call_list(Source& in, Answer& out, Reading<bool> (*read_call)(Source& in, Answer& out));

}  // namespace tempo9::chat
