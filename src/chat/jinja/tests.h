// Jinja's tests: `value is name(arguments)`.
#pragma once
#include <string_view>

#include "chat/jinja/ast.h"

namespace tempo9::chat::jinja {

// Null if there is no such test.
TestFunction find_test(std::string_view name);

}  // namespace tempo9::chat::jinja
