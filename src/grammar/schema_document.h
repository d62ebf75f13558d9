// One JSON Schema while it is read: its references, its parts that stand for others, and what is said about a
// keyword that cannot be kept.
#pragma once
#include <deque>
#include <string>
#include <string_view>

#include "base/result.h"
#include "grammar/form.h"

namespace tempo9::grammar {

class SchemaDocument {
 public:
  // `root` must outlive the document.
  SchemaDocument(const Json& root, std::string subject) : root_(root), subject_(std::move(subject)) {}

  const Json& root() const { return root_; }
  // "tool 'find': the keyword 'not' at /properties/a/not cannot be kept: …". `where`: the pointer to its
  // schema.
  tl::unexpected<Error> refuse(const std::string& where, std::string_view keyword,
                               std::string_view why) const;
  tl::unexpected<Error> refuse(const Error& error) const;

  // Counts one keyword looked at, and checks how deep we are.
  Status spend(const std::string& where, int depth);
  // What a `$ref` within this document points to, further references followed.
  Result<const Json*> resolve(const Json& reference, const std::string& where) const;
  // The same demands without `allOf`, and without `$ref` beside other keywords. The result lives as long as
  // the document.
  Result<const Json*> flatten(const Json& schema, const std::string& where, int depth);
  // What satisfies both. Likewise.
  Result<const Json*> both(const Json& a, const Json& b, const std::string& where, int depth);
  // Refuses a part, to be merged with others, that has a keyword about what it has not looked at itself.
  Status check_unevaluated(const Json& part, const std::string& where) const;

 private:
  Result<const Json*> follow(const std::string& reference, const std::string& where) const;

  const Json& root_;
  std::string subject_;
  size_t steps_ = 0;
  std::deque<Json> made_;
};

// Whether a schema says anything about a value, or only describes it.
bool is_assertion(std::string_view keyword);
bool has_assertions(const Json& schema);
// A schema that is nothing but a `$ref`, whose keyword has no company that counts.
bool is_reference(const Json& schema);
// `where` one step further down.
std::string below(const std::string& where, std::string_view name);

}  // namespace tempo9::grammar
