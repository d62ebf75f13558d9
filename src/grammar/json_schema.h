// A JSON Schema to a grammar of the JSON texts that we let a model write for it.
//
// Every such text is valid against the schema; the reverse does not hold. Where a schema leaves something
// open we write the narrower: properties that it names only, in its order, unless it asks for others; no
// white space but behind ':' and ','; numbers with a bounded number of digits. A keyword that a grammar
// cannot keep is refused with whose schema it is, its place and its name, and so is one that would be kept
// only in part.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"
#include "grammar/form.h"

namespace tempo9::grammar {

// EBNF whose rule `root` is the schema's. `subject` begins every message: "tool 'find'". `quote`: the control
// token that the syntax's quote names, if it does.
Result<std::string> json_schema_to_ebnf(const Json& schema, std::string_view subject,
                                        const ValueSyntax& syntax = {},
                                        std::optional<TokenId> quote = std::nullopt);

}  // namespace tempo9::grammar
