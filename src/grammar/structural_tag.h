// A form as the one text that XGrammar compiles, but for grammars of clients (client_grammars.h). Equal texts
// are equal grammars, so it is also what compiled ones are found by.
#pragma once
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "base/types.h"
#include "grammar/form.h"

namespace tempo9::grammar {

// Schemas become EBNF, regular expressions too; the rest is XGrammar's own description of parts (a
// "structural tag", JSON). Errors name the form's subject, and of a schema the place and the keyword.
using ControlTokens = std::unordered_map<std::string, TokenId>;  // by name
Result<std::string> to_structural_tag(const Form& form, const ControlTokens& controls);

}  // namespace tempo9::grammar
