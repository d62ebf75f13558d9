// What stands between the quotes of a string in a template.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tempo9::chat::jinja {

// Python's escapes: \n, \t, \x41, \u00e9, … An unknown one keeps its backslash. \N{…} is refused.
Result<std::string> unescape_string(std::string_view body);

}  // namespace tempo9::chat::jinja
