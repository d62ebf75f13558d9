#include "grammar/schema_types.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "grammar/regex.h"
#include "grammar/schema_merge.h"
#include "grammar/utf8.h"

namespace tempo9::grammar {
namespace {

const Types& all_types() {
  static const Types types = {"object", "array", "string", "number", "boolean", "null"};
  return types;
}

bool contains(const Types& types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

constexpr size_t kMostMatched = 200;  // bytes of a value that is matched with a pattern

struct Speaks {
  std::string_view keyword, type;
};

constexpr auto kSpeaks = std::to_array<Speaks>({
    {"properties", "object"},
    {"required", "object"},
    {"additionalProperties", "object"},
    {"patternProperties", "object"},
    {"propertyNames", "object"},
    {"minProperties", "object"},
    {"maxProperties", "object"},
    {"unevaluatedProperties", "object"},
    {"items", "array"},
    {"prefixItems", "array"},
    {"minItems", "array"},
    {"maxItems", "array"},
    {"uniqueItems", "array"},
    {"unevaluatedItems", "array"},
    {"minLength", "string"},
    {"maxLength", "string"},
    {"pattern", "string"},
    {"format", "string"},
    {"minimum", "number"},
    {"maximum", "number"},
    {"exclusiveMinimum", "number"},
    {"exclusiveMaximum", "number"},
    {"multipleOf", "number"},
});

// The values it may have, if it lists them.
std::optional<Json> finite_values(const Json& schema) {
  if (!schema.is_object()) return std::nullopt;
  if (schema.contains("const")) return Json::array({schema.at("const")});
  if (schema.contains("enum") && schema.at("enum").is_array()) return schema.at("enum");
  return std::nullopt;
}

// Structured values count as equal: the order of members must not matter.
bool have_common(const Json& a, const Json& b) {
  const auto equal = [](const Json& x, const Json& y) {
    return (x.is_structured() && y.is_structured()) || x == y;
  };
  return std::any_of(a.begin(), a.end(), [&](const Json& x) {
    return std::any_of(b.begin(), b.end(), [&](const Json& y) { return equal(x, y); });
  });
}

bool is_number_type(const std::string& type) {
  return type == "number" || type == "integer";
}

Types possible_types(const Json& schema, const SchemaDocument& document) {
  if (const auto values = finite_values(schema)) {
    Types types;
    for (const std::string& type : all_types())
      if (std::any_of(values->begin(), values->end(), [&](const Json& v) { return has_type(v, type); }))
        types.push_back(type);
    return types;
  }
  const bool alternatives = schema.contains("anyOf") || schema.contains("oneOf");
  if (alternatives && !schema.contains("type")) return all_types();
  return types_of(schema, document, "").value_or(all_types());
}

const Json* property(const Json& schema, const std::string& name) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return nullptr;
  const auto found = properties->find(name);
  return found == properties->end() ? nullptr : &*found;
}

bool requires_property(const Json& schema, const std::string& name) {
  const auto required = schema.find("required");
  return required != schema.end() && required->is_array() &&
         std::find(required->begin(), required->end(), name) != required->end();
}

// Whether what is written for `a` never has all properties that `b` requires, or has one with another value.
bool misses(const Json& a, const Json& b, const SchemaDocument& document) {
  const auto required = b.find("required");
  if (required == b.end() || !required->is_array()) return false;
  const bool closed = a.contains("properties") && !a.contains("patternProperties") &&
                      (!a.contains("additionalProperties") || a.at("additionalProperties") == false);
  return std::any_of(required->begin(), required->end(), [&](const Json& entry) {
    if (!entry.is_string()) return false;
    const auto name = entry.get<std::string>();
    const Json *own = property(a, name), *other = property(b, name);
    if (own == nullptr) return closed && !requires_property(a, name);
    if (other == nullptr || !requires_property(a, name)) return false;
    const auto resolved = [&](const Json* schema) {
      return is_reference(*schema) ? document.resolve(schema->at("$ref"), "").value_or(schema) : schema;
    };
    const auto values = finite_values(*resolved(own)), others = finite_values(*resolved(other));
    return values && others && !have_common(*values, *others);
  });
}

// Whether the listed values are strings that the other's pattern refuses.
bool refuses(const Json& pattern_of, const Json& values) {
  if (!pattern_of.contains("pattern") || !pattern_of.at("pattern").is_string()) return false;
  const auto regex =
      parse_regex(pattern_of.at("pattern").get_ref<const std::string&>(), RegexMatch::kAnywhere);
  return regex && std::all_of(values.begin(), values.end(), [&](const Json& value) {
           return value.is_string() && value.get_ref<const std::string&>().size() <= kMostMatched &&
                  !matches(*regex, code_points(value.get_ref<const std::string&>()));
         });
}

}  // namespace

bool has_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::floor(value.get<double>()) == value.get<double>();
}

Result<Types> types_of(const Json& schema, const SchemaDocument& document, const std::string& where) {
  Types types;
  if (schema.contains("type")) {
    const Json names = type_list(schema.at("type"));
    if (names.is_null())
      return document.refuse(where, "type", "it must be the name of a type or a list of them");
    for (const Json& name : names) {
      const auto& type = name.get_ref<const std::string&>();
      if (type != "integer" && !contains(all_types(), type))
        return document.refuse(where, "type", fmt::format("'{}' is no type", type));
      if (!contains(types, type)) types.push_back(type);
    }
  } else {
    for (const Speaks& entry : kSpeaks)
      if (schema.contains(entry.keyword) && !contains(types, entry.type)) types.emplace_back(entry.type);
    if (types.empty()) types = all_types();
  }
  if (contains(types, "number")) std::erase(types, "integer");
  return types;
}

bool are_disjoint(const Json& a, const Json& b, const SchemaDocument& document) {
  if (a == false || b == false) return true;
  if (!a.is_object() || !b.is_object()) return false;
  const Types first = possible_types(a, document), second = possible_types(b, document);
  const bool common_type = std::any_of(first.begin(), first.end(), [&](const std::string& type) {
    return std::any_of(second.begin(), second.end(), [&](const std::string& other) {
      return type == other || (is_number_type(type) && is_number_type(other));
    });
  });
  if (!common_type) return true;
  const auto values = finite_values(a), others = finite_values(b);
  if (values && others) return !have_common(*values, *others);
  if (values && refuses(b, *values)) return true;
  if (others && refuses(a, *others)) return true;
  if (first != Types{"object"} || second != Types{"object"} || values || others) return false;
  return misses(a, b, document) && misses(b, a, document);
}

}  // namespace tempo9::grammar
