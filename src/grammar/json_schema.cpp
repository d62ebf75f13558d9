#include "grammar/json_schema.h"

#include "grammar/schema_writer.h"

namespace tempo9::grammar {

Result<std::string> json_schema_to_ebnf(const Json& schema, std::string_view subject,
                                        const ValueSyntax& syntax, std::optional<TokenId> quote) {
  SchemaDocument document(schema, std::string(subject));
  Ebnf grammar;
  SchemaWriter writer(document, grammar, syntax, quote);
  TRY_ASSIGN(const auto root, syntax.assign.empty() ? writer.value(schema, "", 0) : writer.members(schema));
  if (!root) return fail(ErrorCode::kInvalidArgument, "{}: no value satisfies the schema", subject);
  if (const Status size = grammar.check_size(); !size) return document.refuse(size.error());
  return grammar.text(*root);
}

}  // namespace tempo9::grammar
