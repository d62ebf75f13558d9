// Python's json.dumps, as the `tojson` of chat templates calls it.
#pragma once
#include <optional>
#include <string>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

struct JsonStyle {
  bool ascii_only = false;
  std::optional<std::string> indent;  // one level of it; unset: everything on one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
  Metered held = {};  // what the texts take up
};

Result<Text> write_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace tempo9::chat::jinja
