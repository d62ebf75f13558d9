#include "grammar/schema_merge.h"

#include <algorithm>

namespace tempo9::grammar {
namespace {

bool contains(const Json& list, const Json& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Json all_of(const Json& a, const Json& b) {
  if (a == b || (b.is_boolean() && b == true)) return a;
  if (a.is_boolean() && a == true) return b;
  if (a == false || b == false) return false;
  return Json{{"allOf", Json::array({a, b})}};
}

Json common_types(const Json& a, const Json& b) {
  const Json first = type_list(a), second = type_list(b);
  Json common = Json::array();
  const auto add = [&](const Json& type) {
    if (!contains(common, type)) common.push_back(type);
  };
  for (const Json& type : first) {
    const bool narrower = type == "integer" && contains(second, "number");
    if (contains(second, type) || narrower) add(type);
    if (type == "number" && contains(second, "integer")) add("integer");
  }
  return common;
}

bool is_one_of(const std::string& key, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

// Items with a schema of their own also satisfy what the other schema asks of all.
void add_items(Json& own, const Json& other) {
  const auto prefix = own.find("prefixItems");
  const auto items = other.find("items");
  if (prefix == own.end() || !prefix->is_array() || items == other.end() || other.contains("prefixItems"))
    return;
  for (Json& schema : *prefix) schema = all_of(schema, *items);
}

}  // namespace

Json type_list(const Json& type) {
  if (type.is_string()) return Json::array({type});
  const bool names =
      type.is_array() && std::all_of(type.begin(), type.end(), [](const Json& t) { return t.is_string(); });
  return names ? type : Json();
}

Result<Json> SchemaMerge::keyword(const std::string& key, const Json& a, const Json& b,
                                  const std::string& where) {
  if (key == "type") return common_types(a, b);
  const bool numbers = a.is_number() && b.is_number();
  if (numbers && is_one_of(key, {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}))
    return a < b ? b : a;
  if (numbers && is_one_of(key, {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}))
    return a < b ? a : b;
  if (key == "enum" && a.is_array() && b.is_array()) {
    Json common = Json::array();
    for (const Json& value : a)
      if (contains(b, value)) common.push_back(value);
    return common;
  }
  if (key == "required" && a.is_array() && b.is_array()) {
    Json names = a;
    for (const Json& name : b)
      if (!contains(names, name)) names.push_back(name);
    return names;
  }
  if (key == "properties" && a.is_object() && b.is_object()) {
    Json properties = a;
    for (const auto& [name, schema] : b.items())
      properties[name] = properties.contains(name) ? all_of(properties[name], schema) : schema;
    return properties;
  }
  const bool schemas = (a.is_object() || a.is_boolean()) && (b.is_object() || b.is_boolean());
  if (schemas && is_one_of(key, {"items", "additionalProperties", "propertyNames"})) return all_of(a, b);
  return document_.refuse(where, key, "two schemas that both apply here demand different things of it");
}

Result<Json> SchemaMerge::with_additional(const Json& own, const Json& other,
                                          const std::string& where) const {
  Json result = own;
  add_items(result, other);
  const auto properties = result.find("properties");
  if (properties == result.end() || !properties->is_object()) return result;
  if (other.contains("patternProperties"))
    return document_.refuse(where, "patternProperties", "another schema that applies here names properties");
  const auto additional = other.find("additionalProperties");
  if (additional == other.end()) return result;
  const auto named = other.find("properties");
  for (auto& [name, schema] : properties->items())
    if (named == other.end() || !named->contains(name)) schema = all_of(schema, *additional);
  return result;
}

Result<Json> SchemaMerge::merge(const Json& a, const Json& b, const std::string& where, int depth) {
  if (a.is_boolean()) return a == true ? b : a;
  if (b.is_boolean()) return b == true ? a : b;
  if (!a.is_object() || !b.is_object())
    return document_.refuse(where, "allOf", "a schema must be an object, true or false");
  TRY_ASSIGN(Json result, with_additional(a, b, where));
  TRY_ASSIGN(const Json other, with_additional(b, a, where));
  for (const auto& [key, value] : other.items()) {
    TRY(document_.spend(where, depth));
    if (!is_assertion(key)) continue;
    const auto present = result.find(key);
    if (present == result.end()) {
      result[key] = value;
    } else if (*present != value) {
      TRY_ASSIGN(*present, keyword(key, *present, value, where));
    }
  }
  return result;
}

}  // namespace tempo9::grammar
