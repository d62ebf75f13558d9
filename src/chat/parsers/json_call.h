// A call as a JSON object: {"name": "f", "arguments": {…}}, with "parameters" for the latter in some
// families.
#pragma once
#include "chat/parsers/answer.h"

namespace tempo9::chat {

enum class OtherMembers { kAllowed, kForbidden };

// The object that begins at the next byte. Its members may come in any order; those of no meaning here ("id",
// "type") are allowed or not, but for the two. Arguments that are a text are those in the text.
Reading<bool> read_json_call(Source& in, Answer& out, OtherMembers others = OtherMembers::kAllowed);

}  // namespace tempo9::chat
