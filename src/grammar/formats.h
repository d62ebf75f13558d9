// JSON Schema's `format` values that a grammar can keep, each as a regular expression whose texts are all
// valid (a few valid texts are left out: the 29th of February, leap seconds).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tempo9::grammar {

std::optional<std::string> format_pattern(std::string_view format);
// For messages: "date, time, …".
std::string format_names();

}  // namespace tempo9::grammar
