// Reads JSON as it comes (RFC 8259) and passes it on as it stands. Stricter than the standard where programs
// disagree: no key twice in an object, no half of a surrogate pair, no number beyond a double. More lenient
// in one thing that models get wrong: control characters in a string, which are passed on escaped.
#pragma once
#include <string>
#include <string_view>

#include "chat/parsers/sink.h"
#include "chat/parsers/source.h"

namespace tempo9::chat {

// One value that begins at the next byte. False: the text is no JSON from the next byte on. At most
// limits::kMaxJsonDepth objects and arrays stand within each other, as in requests.
Reading<bool> read_json_value(Source& in, Sink& out, int depth = 0);

// The next byte is the quote. `decoded`, if not null, gets the string's content.
Reading<bool> read_json_string(Source& in, Sink& out, std::string* decoded);

// What follows a backslash that has been taken. False, and nothing is taken, if JSON knows no such escape.
Reading<bool> read_json_escape(Source& in, Sink& out, std::string* decoded);

// An object that begins at the next byte; its last brace is taken but not passed on (see Answer).
Reading<bool> read_json_arguments(Source& in, Sink& out);

// `text` as it would be passed on, if it is one value without white space around it; empty if not.
std::string read_whole_json(std::string_view text);
bool is_json_number(std::string_view text);

}  // namespace tempo9::chat
