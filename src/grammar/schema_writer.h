// The body of json_schema.h: one method for each kind of value.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "grammar/code_points.h"
#include "grammar/ebnf.h"
#include "grammar/schema_document.h"
#include "grammar/schema_types.h"

namespace tempo9::grammar {

// An expression, or nothing where no value satisfies the schema.
using Written = Result<std::optional<std::string>>;

class SchemaWriter {
 public:
  SchemaWriter(SchemaDocument& document, Ebnf& grammar, const ValueSyntax& syntax,
               std::optional<TokenId> quote_token)
      : document_(document), grammar_(grammar), syntax_(syntax), quote_token_(quote_token) {}

  // An expression that may stand in a sequence.
  Written value(const Json& schema, const std::string& where, int depth);
  // The outermost object, without braces.
  Written members(const Json& schema);

 private:
  struct Place {  // where we are: the pointer to the schema and the levels above it
    const std::string& where;
    int depth;
    bool outermost = false;  // without braces
  };
  struct Entry {  // of an object: `"name": value`
    std::string text;
    bool required;
  };
  struct Count {  // how many of something
    int64_t least = 0;
    std::optional<int64_t> most = {};
  };

  Written reference(const Json& target, const Place& place);
  Status refuse_unsupported(const Json& schema, const Place& place) const;
  Written alternatives(const Json& schema, std::string_view keyword, const Place& place);
  Written constants(const Json& schema, const Place& place);
  Written of_type(const Json& schema, const std::string& type, const Place& place);
  Result<Count> count(const Json& schema, std::string_view least, std::string_view most,
                      const Place& place) const;

  Written string(const Json& schema, const Place& place);
  Written number(const Json& schema, bool integers, const Place& place);
  Written multiples(const Json& schema, const Place& place);

  Written array(const Json& schema, const Place& place);
  Result<std::optional<std::string>> rest_of_array(const Json& schema, bool has_prefix, int64_t missing,
                                                   const Place& place);

  Written object(const Json& schema, const Place& place);
  Written map(const Json& schema, const Place& place);
  Result<std::optional<std::string>> keys_of_map(const Json& schema, const Place& place);
  Written additional(const Json& schema, const Place& place);
  Result<bool> add_entries(const Json& schema, std::vector<Entry>& entries, const Place& place);
  std::string write_object(const std::vector<Entry>& entries, const std::optional<std::string>& others,
                           bool may_be_empty, bool outermost);
  std::string braced(const std::string& members, bool outermost) const;
  std::string other_key(const Json& properties);

  // What any schema may refer to.
  std::string any_value();
  std::string any_object();
  std::string any_string();
  std::string bounded_string(const Count& wanted);
  std::string characters(int64_t count, std::string rest, bool or_fewer);
  std::string escape();

  // By the syntax; expressions.
  std::string comma() const { return literal(syntax_.comma); }
  std::string colon() const { return literal(syntax_.colon); }
  std::string quote() const;
  std::string quoted(const std::string& text) const;
  std::optional<std::string> constant(const Json& value) const;
  std::optional<std::string> key(const std::string& name, bool outermost) const;
  CodePointSet outside() const;  // what texts have none of

  SchemaDocument& document_;
  Ebnf& grammar_;
  const ValueSyntax& syntax_;
  const std::optional<TokenId> quote_token_;
  std::string string_, characters_;  // the rules of any string and of all but its first quote, once there are
  std::map<const Json*, std::string> references_;  // rules, by what is referred to
};

}  // namespace tempo9::grammar
