// A grammar of texts as a grammar of these texts within a JSON string, where some of their characters are
// spelled otherwise: what a model has to write where a text with a grammar of its own is an argument.
#pragma once
#include <string>

#include "base/result.h"
#include "grammar/form.h"

namespace tempo9::grammar {

// `grammar`: XGrammar's own serialization (its expressions as numbers, see GrammarExprType in its sources).
// Gives EBNF of what may stand between the quotes: every text of the grammar in one spelling or more, with
// the short escapes where there are some. kUnsupported names what cannot be spelled.
Result<std::string> spell_in_json(const Json& grammar);

}  // namespace tempo9::grammar
