// Two schemas into one that demands what both demand, keyword by keyword. Where that takes more than one
// keyword can say, it is refused by name.
#pragma once
#include <string>

#include "grammar/schema_document.h"

namespace tempo9::grammar {

class SchemaMerge {
 public:
  explicit SchemaMerge(SchemaDocument& document) : document_(document) {}

  // Both are flat at their top; what lies below is merged as allOf.
  Result<Json> merge(const Json& a, const Json& b, const std::string& where, int depth);

 private:
  Result<Json> keyword(const std::string& key, const Json& a, const Json& b, const std::string& where);
  // The properties and items of `own`, with what the other schema says about those that it does not name.
  Result<Json> with_additional(const Json& own, const Json& other, const std::string& where) const;

  SchemaDocument& document_;
};

// The types that a `type` names, an array of names; null if it is no name or list of names.
Json type_list(const Json& type);

}  // namespace tempo9::grammar
