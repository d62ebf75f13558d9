// Python's two ways to fill in a string: `"%s" % value` and `"{}".format(value)`.
#pragma once
#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

// `values` is a tuple, a dict for `%(name)s`, or the one value.
Result<Text> format_percent(Runtime& runtime, const Text& format, const Value& values);
Result<Text> format_braces(Runtime& runtime, const Text& format, const Arguments& arguments);

}  // namespace tempo9::chat::jinja
