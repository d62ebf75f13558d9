// Values as programming languages write them, rewritten as JSON while they come: Python's literals, and the
// notation of Gemma 4, which has a quote of its own and leaves keys and single words bare.
#pragma once
#include <string>

#include "chat/parsers/sink.h"
#include "chat/parsers/source.h"

namespace tempo9::chat {

struct Tool;

struct Notation {
  std::string quote;        // encloses text as it stands, besides ' and "; empty: there is none
  bool bare_words = false;  // keys and texts need no quotes
};

// One value that begins at the next byte; its depth is bounded by limits::kMaxJsonDepth. Of a value within an
// argument no schema is asked.
Reading<bool> read_notation_value(Source& in, Sink& out, const Notation& notation, int depth = 0);

// The value of an argument: a text, number or word is what the types (argument_types.h) allow.
Reading<bool> read_argument(Source& in, Sink& out, const Notation& notation, unsigned allowed);

// An object {…} that begins at the next byte, as arguments of `tool`, which may be null. Its last brace is
// taken but not passed on (see Answer).
Reading<bool> read_notation_arguments(Source& in, Sink& out, const Notation& notation, const Tool* tool);

}  // namespace tempo9::chat
