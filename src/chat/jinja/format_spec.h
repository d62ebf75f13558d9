// Python's format mini-language: `[[fill]align][sign][#][0][width][grouping][.precision][type]`.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

struct FormatSpec {
  std::string fill = " ";  // one character
  char align = 0;          // '<', '>', '^', '=' or none
  char sign = '-';         // '-', '+' or ' '
  bool alternate = false;  // '#'
  char grouping = 0;       // ',' or '_'
  size_t width = 0;        // characters
  std::optional<size_t> precision;
  char type = 0;
};

Result<FormatSpec> parse_format_spec(std::string_view spec);
// Python's format(value, spec) for strings, integers, bools and floats.
Result<Text> format_value(Runtime& runtime, const Value& value, const FormatSpec& spec);

// The parts of it that `%` formatting shares. `default_align` is used where the spec has none.
Result<Text> format_string(Runtime& runtime, const Text& text, const FormatSpec& spec, char default_align);
Result<Text> format_number(Runtime& runtime, const Value& number, const FormatSpec& spec);

}  // namespace tempo9::chat::jinja
