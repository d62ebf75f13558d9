#include "grammar/schema_document.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "grammar/schema_merge.h"

namespace tempo9::grammar {
namespace {

// Of drafts 4 to 2020-12. Whatever else stands in a schema describes or is unknown, and unknown keywords say
// nothing.
constexpr auto kAssertions = std::to_array<std::string_view>({
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
});
static_assert(std::is_sorted(kAssertions.begin(), kAssertions.end()));

constexpr int kMaxReferencesInARow = 32;

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string decode_percent(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hexadecimal(text[i + 1]) >= 0 &&
                        hexadecimal(text[i + 2]) >= 0;
    if (escape) {
      out += static_cast<char>(hexadecimal(text[i + 1]) * 16 + hexadecimal(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string decode_step(std::string_view step) {
  std::string out;
  for (size_t i = 0; i < step.size(); ++i) {
    const bool escape = step[i] == '~' && i + 1 < step.size() && (step[i + 1] == '0' || step[i + 1] == '1');
    out += !escape ? step[i] : step[++i] == '0' ? '~' : '/';
  }
  return out;
}

// One step of a JSON pointer; null if there is no such place.
const Json* descend(const Json* at, const std::string& step) {
  if (at->is_object()) {
    const auto member = at->find(step);
    return member == at->end() ? nullptr : &*member;
  }
  if (!at->is_array() || step.empty() || step.size() > 9) return nullptr;
  if (!std::all_of(step.begin(), step.end(), [](char c) { return c >= '0' && c <= '9'; })) return nullptr;
  const size_t index = std::stoul(step);
  return index < at->size() ? &(*at)[index] : nullptr;
}

}  // namespace

bool is_assertion(std::string_view keyword) {
  return std::binary_search(kAssertions.begin(), kAssertions.end(), keyword);
}

bool has_assertions(const Json& schema) {
  if (!schema.is_object()) return true;
  return std::any_of(schema.items().begin(), schema.items().end(),
                     [](const auto& member) { return is_assertion(member.key()); });
}

bool is_reference(const Json& schema) {
  if (!schema.is_object() || !schema.contains("$ref")) return false;
  return std::none_of(schema.items().begin(), schema.items().end(), [](const auto& member) {
    return member.key() != "$ref" && is_assertion(member.key());
  });
}

std::string below(const std::string& where, std::string_view name) {
  std::string out = where + "/";
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

tl::unexpected<Error> SchemaDocument::refuse(const std::string& where, std::string_view keyword,
                                             std::string_view why) const {
  return fail(ErrorCode::kUnsupported, "{}: the keyword '{}' at {} cannot be kept: {}", subject_, keyword,
              below(where, keyword), why);
}

tl::unexpected<Error> SchemaDocument::refuse(const Error& error) const {
  return fail(error.code, "{}: {}", subject_, error.message);
}

Status SchemaDocument::spend(const std::string& where, int depth) {
  if (depth > limits::kMaxSchemaDepth)
    return fail(ErrorCode::kInvalidArgument, "{}: the schema is more than {} levels deep at {}", subject_,
                limits::kMaxSchemaDepth, where.empty() ? "its root" : where);
  if (++steps_ > limits::kMaxSchemaSteps)
    return fail(ErrorCode::kInvalidArgument,
                "{}: the schema has more than {} keywords, counting each place that refers to them", subject_,
                limits::kMaxSchemaSteps);
  return {};
}

Result<const Json*> SchemaDocument::follow(const std::string& reference, const std::string& where) const {
  if (reference != "#" && !reference.starts_with("#/"))
    return refuse(where, "$ref", fmt::format("'{}' does not point into the schema itself", reference));
  const std::string pointer = decode_percent(std::string_view(reference).substr(1));
  const Json* at = &root_;
  for (size_t begin = 0; begin < pointer.size() && at != nullptr;) {
    const size_t end = std::min(pointer.find('/', begin + 1), pointer.size());
    at = descend(at, decode_step(std::string_view(pointer).substr(begin + 1, end - begin - 1)));
    begin = end;
  }
  if (at == nullptr) return refuse(where, "$ref", fmt::format("the schema has no '{}'", reference));
  return at;
}

Result<const Json*> SchemaDocument::resolve(const Json& reference, const std::string& where) const {
  const Json* name = &reference;
  for (int i = 0; i < kMaxReferencesInARow; ++i) {
    if (!name->is_string()) return refuse(where, "$ref", "it must be a string");
    TRY_ASSIGN(const Json* target, follow(name->get_ref<const std::string&>(), where));
    if (!is_reference(*target)) return target;
    name = &target->at("$ref");
  }
  return refuse(where, "$ref", "it refers to itself");
}

Status SchemaDocument::check_unevaluated(const Json& part, const std::string& where) const {
  for (const std::string_view keyword : {"unevaluatedItems", "unevaluatedProperties"})
    if (part.is_object() && part.contains(keyword) && part.at(keyword) != true)
      return refuse(where, keyword, "it stands in a part of a schema and does not see the other parts");
  return {};
}

Result<const Json*> SchemaDocument::both(const Json& a, const Json& b, const std::string& where, int depth) {
  TRY_ASSIGN(Json merged, SchemaMerge(*this).merge(a, b, where, depth));
  return &made_.emplace_back(std::move(merged));
}

Result<const Json*> SchemaDocument::flatten(const Json& schema, const std::string& where, int depth) {
  TRY(spend(where, depth));
  if (!schema.is_object() || (!schema.contains("$ref") && !schema.contains("allOf"))) return &schema;
  Json rest = Json::object();
  for (const auto& [key, value] : schema.items())
    if (key != "$ref" && key != "allOf" && is_assertion(key)) rest[key] = value;
  const size_t parts_count = static_cast<size_t>(schema.contains("$ref")) +
                             (schema.contains("allOf") ? schema.at("allOf").size() : 0);
  const bool alone = rest.empty() && parts_count == 1;
  const Json* result = &made_.emplace_back(std::move(rest));
  const auto add = [&](const Json& part, const std::string& place) -> Status {
    TRY_ASSIGN(const Json* flat, flatten(part, place, depth + 1));
    if (!alone) TRY(check_unevaluated(*flat, place));
    TRY_ASSIGN(result, both(*result, *flat, place, depth + 1));
    return {};
  };
  if (schema.contains("$ref")) {
    TRY_ASSIGN(const Json* target, resolve(schema.at("$ref"), where));
    TRY(add(*target, where));
  }
  if (!schema.contains("allOf")) return result;
  const Json& parts = schema.at("allOf");
  if (!parts.is_array()) return refuse(where, "allOf", "it must be an array");
  for (size_t i = 0; i < parts.size(); ++i)
    TRY(add(parts[i], below(below(where, "allOf"), std::to_string(i))));
  return result;
}

}  // namespace tempo9::grammar
