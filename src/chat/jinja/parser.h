// Template source to a tree.
#pragma once
#include <string_view>

#include "base/result.h"
#include "chat/jinja/ast.h"

namespace tempo9::chat::jinja {

// kInvalidArgument with "line N: " and the reason; kUnsupported for the statements that load other templates.
Result<TemplateTree> parse_template(std::string_view source);

}  // namespace tempo9::chat::jinja
