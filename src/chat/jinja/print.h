// How Python prints values: str() and repr().
#pragma once
#include <string>
#include <string_view>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

// Fail only when the text would exceed the memory limit.
Status append_str(Runtime& runtime, Text& out, const Value& value);
Status append_repr(Runtime& runtime, Text& out, const Value& value);
Result<Text> to_str(Runtime& runtime, const Value& value);
Result<Text> to_repr(Runtime& runtime, const Value& value);

// A string between quotes, escaped as Python does.
std::string quote(std::string_view text);

}  // namespace tempo9::chat::jinja
