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

// The beginning, with … where it is not all: messages stay short, whatever they quote.
constexpr size_t kMaxQuotedBytes = 200;
std::string shorten(std::string_view text, size_t most = kMaxQuotedBytes);
// A name or the like between quotes, escaped as Python does, and shortened.
std::string quote(std::string_view text);

}  // namespace tempo9::chat::jinja
