#include "chat/parsers/argument_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "chat/parsers/json_value.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

constexpr int kMaxSchemaDepth = 16;  // references and combinations within each other

constexpr std::array<std::pair<std::string_view, unsigned>, 7> kTypeNames = {{
    {"string", types::kString},
    {"integer", types::kInteger},
    {"number", types::kNumber | types::kInteger},
    {"boolean", types::kBoolean},
    {"null", types::kNull},
    {"array", types::kArray},
    {"object", types::kObject},
}};

unsigned type_named(const Json& name) {
  const auto* text = name.get_ptr<const std::string*>();
  const auto named = [&](const auto& entry) { return text != nullptr && entry.first == *text; };
  const auto found = std::ranges::find_if(kTypeNames, named);
  return found == kTypeNames.end() ? 0 : found->second;
}

unsigned type_of(const Json& value) {
  if (value.is_string()) return types::kString;
  if (value.is_number_integer()) return types::kInteger;
  if (value.is_number()) return types::kNumber;
  if (value.is_boolean()) return types::kBoolean;
  if (value.is_null()) return types::kNull;
  return value.is_array() ? types::kArray : types::kObject;
}

// What "#/$defs/x" stands for; null if it leads nowhere.
const Json* resolve(const Json& root, std::string_view reference) {
  if (!reference.starts_with('#')) return nullptr;
  reference.remove_prefix(1);
  const Json* at = &root;
  while (!reference.empty()) {
    reference.remove_prefix(1);  // the slash
    const size_t end = std::min(reference.find('/'), reference.size());
    const std::string key(reference.substr(0, end));
    reference.remove_prefix(end);
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &at->at(key);
  }
  return at;
}

template <class Values, class Type>
unsigned united(const Values& values, Type type) {
  unsigned all = 0;
  for (const Json& value : values) all |= type(value);
  return all;
}

unsigned types_of_schema(const Json& root, const Json& schema, int depth) {
  if (!schema.is_object() || depth > kMaxSchemaDepth) return types::kAny;
  const auto types_of = [&](const Json& part) { return types_of_schema(root, part, depth + 1); };
  unsigned allowed = types::kAny;
  for (const auto& [key, value] : schema.items()) {
    if (key == "type")
      allowed &= value.is_array() ? united(value, type_named) : type_named(value);
    else if ((key == "anyOf" || key == "oneOf") && value.is_array())
      allowed &= united(value, types_of);
    else if (key == "enum" && value.is_array())
      allowed &= united(value, type_of);
    else if (key == "const")
      allowed &= type_of(value);
    else if (key == "allOf" && value.is_array())
      for (const Json& part : value) allowed &= types_of(part);
    else if (key == "$ref" && value.is_string())
      if (const Json* target = resolve(root, value.get_ref<const std::string&>()))
        allowed &= types_of(*target);
  }
  if (schema.contains("nullable") && schema["nullable"] == true) allowed |= types::kNull;
  return allowed == 0 ? types::kAny : allowed;
}

unsigned type_of_text(std::string_view json) {
  switch (json.front()) {
    case '{':
      return types::kObject;
    case '[':
      return types::kArray;
    case '"':
      return types::kString;
    case 't':
    case 'f':
      return types::kBoolean;
    case 'n':
      return types::kNull;
    default:
      break;
  }
  const double number = std::strtod(std::string(json).c_str(), nullptr);
  return std::floor(number) == number ? types::kInteger : types::kNumber;
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return lowered;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

unsigned allowed_types(const Tool& tool, std::string_view name) {
  const Json& schema = tool.parameters;
  if (!schema.is_object()) return types::kAny;
  if (const auto properties = schema.find("properties");
      properties != schema.end() && properties->is_object())
    if (const auto property = properties->find(std::string(name)); property != properties->end())
      return types_of_schema(schema, *property, 0);
  const auto others = schema.find("additionalProperties");
  return others == schema.end() ? types::kAny : types_of_schema(schema, *others, 0);
}

std::string type_value(std::string_view text, unsigned allowed) {
  const std::string_view trimmed = trim(text);
  if (const std::string json = read_whole_json(trimmed); !json.empty()) {
    const unsigned type = type_of_text(json);
    if (type != types::kString && (allowed & type) != 0) return json;
  }
  const std::string word = lower(trimmed);  // as Python writes them
  if ((allowed & types::kBoolean) != 0 && (word == "true" || word == "false")) return word;
  if ((allowed & types::kNull) != 0 && word == "none") return "null";
  return quote_json(text);
}

std::string retype_value(const std::string& json, unsigned allowed) {
  if ((allowed & type_of_text(json)) != 0) return json;
  if (!json.starts_with('"')) return (allowed & types::kString) != 0 ? quote_json(json) : json;
  const Json text = Json::parse(json, nullptr, false);
  return text.is_string() ? type_value(text.get_ref<const std::string&>(), allowed) : json;
}

}  // namespace tempo9::chat
