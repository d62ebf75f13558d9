// Gives every name of a parsed template its variable, with Jinja's rules: a scope (a loop's body, a macro, a
// block) that assigns a name has a variable of its own, which starts as a copy of the outer one; a scope that
// only reads a name uses the outer one; a name that no scope assigns is looked up among the template's
// arguments when the scope that reads it is entered.
#pragma once
#include "base/result.h"
#include "chat/jinja/ast.h"

namespace tempo9::chat::jinja {

// Fails with the line on an unknown filter or test that is not within an `if`, and on an assignment to `loop`
// within a loop.
Status resolve_scopes(TemplateTree& tree);

}  // namespace tempo9::chat::jinja
