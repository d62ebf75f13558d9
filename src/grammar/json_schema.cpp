#include "grammar/json_schema.h"

#include "base/limits.h"
#include "grammar/schema_writer.h"

namespace tempo9::grammar {
namespace {

// Of all objects in it. Quick: what is far too large should not be looked at level by level.
size_t count_members(const Json& value) {
  size_t count = value.is_object() ? value.size() : 0;
  if (value.is_structured())
    for (const Json& part : value) count += count_members(part);
  return count;
}

}  // namespace

Result<std::string> json_schema_to_ebnf(const Json& schema, std::string_view subject,
                                        const ValueSyntax& syntax, std::optional<TokenId> quote) {
  if (count_members(schema) > limits::kMaxSchemaSteps)
    return fail(ErrorCode::kInvalidArgument, "{}: the schema has more than {} keywords", subject,
                limits::kMaxSchemaSteps);
  SchemaDocument document(schema, std::string(subject));
  Ebnf grammar;
  SchemaWriter writer(document, grammar, syntax, quote);
  TRY_ASSIGN(const auto root, syntax.assign.empty() ? writer.value(schema, "", 0) : writer.members(schema));
  if (!root) return fail(ErrorCode::kInvalidArgument, "{}: no value satisfies the schema", subject);
  if (const Status size = grammar.check_size(); !size) return document.refuse(size.error());
  return grammar.text(*root);
}

}  // namespace tempo9::grammar
