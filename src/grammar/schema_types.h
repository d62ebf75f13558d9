// What can be told about the values of a schema by looking at it alone.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "grammar/schema_document.h"

namespace tempo9::grammar {

// Names of types: "integer" is left out beside "number".
using Types = std::vector<std::string>;

// `type`, or what its keywords speak of, or every type. An unknown type is refused.
Result<Types> types_of(const Json& schema, const SchemaDocument& document, const std::string& where);

bool has_type(const Json& value, const std::string& type);

// Whether no value that we write for one satisfies the other, both flat at their top. False if that is not
// obvious.
bool are_disjoint(const Json& a, const Json& b, const SchemaDocument& document);

}  // namespace tempo9::grammar
