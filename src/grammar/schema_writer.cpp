#include "grammar/schema_writer.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "grammar/number_range.h"

namespace tempo9::grammar {
namespace {

std::optional<std::string> join(const std::vector<std::string>& choices) {
  if (choices.empty()) return std::nullopt;
  std::string text = fmt::format("{}", fmt::join(choices, " | "));
  return choices.size() == 1 ? text : "(" + text + ")";
}

// Keywords that only say how others are to be read together.
constexpr auto kNever =
    std::to_array<std::string_view>({"not", "contains", "dependentRequired", "dependentSchemas",
                                     "dependencies", "$dynamicRef", "$recursiveRef"});

}  // namespace

Written SchemaWriter::value(const Json& schema, const std::string& where, int depth) {
  TRY(document_.spend(where, depth));
  if (const Status size = grammar_.check_size(); !size) return document_.refuse(size.error());
  const Place place{where, depth};
  if (schema.is_boolean()) return schema == true ? std::optional(any_value()) : std::nullopt;
  if (!schema.is_object()) return document_.refuse(where, "", "a schema must be an object, true or false");
  if (is_reference(schema)) {
    TRY_ASSIGN(const Json* target, document_.resolve(schema.at("$ref"), where));
    return reference(*target, place);
  }
  TRY_ASSIGN(const Json* flat, document_.flatten(schema, where, depth));
  if (flat->is_boolean()) return value(*flat, where, depth + 1);
  TRY(refuse_unsupported(*flat, place));
  if (flat->contains("anyOf")) return alternatives(*flat, "anyOf", place);
  if (flat->contains("oneOf")) return alternatives(*flat, "oneOf", place);
  if (flat->contains("enum") || flat->contains("const")) return constants(*flat, place);
  if (!has_assertions(*flat)) return std::optional(any_value());
  TRY_ASSIGN(const Types types, types_of(*flat, document_, where));
  std::vector<std::string> choices;
  for (const std::string& type : types) {
    TRY_ASSIGN(auto written, of_type(*flat, type, place));
    if (written) choices.push_back(*std::move(written));
  }
  return join(choices);
}

// Each target is written once, so that what refers to itself ends. It is entered before it is written.
Written SchemaWriter::reference(const Json& target, const Place& place) {
  if (const auto known = references_.find(&target); known != references_.end())
    return std::optional(known->second);
  const std::string name = grammar_.reserve("reference");
  references_.emplace(&target, name);
  TRY_ASSIGN(const auto written, value(target, place.where, place.depth + 1));
  if (!written) {
    references_.erase(&target);
    grammar_.define(name, "\"\"");  // for those within it that refer back; nobody else reaches it
    return std::nullopt;
  }
  grammar_.define(name, *written);
  return std::optional(name);
}

Status SchemaWriter::refuse_unsupported(const Json& schema, const Place& place) const {
  for (const std::string_view keyword : kNever)
    if (schema.contains(keyword)) return document_.refuse(place.where, keyword, "it is not supported");
  if (schema.contains("if") && (schema.contains("then") || schema.contains("else")))
    return document_.refuse(place.where, "if", "it is not supported");
  if (schema.contains("anyOf") && schema.contains("oneOf"))
    return document_.refuse(place.where, "oneOf", "'anyOf' stands beside it");
  return {};
}

// What stands beside anyOf and oneOf applies to each of their schemas.
Written SchemaWriter::alternatives(const Json& schema, std::string_view keyword, const Place& place) {
  const Json& list = schema.at(keyword);
  if (!list.is_array() || list.empty())
    return document_.refuse(place.where, keyword, "it must be an array of schemas");
  Json rest = schema;
  rest.erase(std::string(keyword));
  const bool alone = !has_assertions(rest);
  const std::string here = below(place.where, keyword);
  std::vector<const Json*> flat;
  std::vector<std::string> choices;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string where = below(here, std::to_string(i));
    TRY_ASSIGN(const Json* part, document_.flatten(list[i], where, place.depth + 1));
    if (!alone) {
      TRY(document_.check_unevaluated(*part, where));
      TRY_ASSIGN(part, document_.both(rest, *part, where, place.depth + 1));
    }
    flat.push_back(part);
    TRY_ASSIGN(auto written, value(alone ? list[i] : *part, where, place.depth + 1));
    if (written && std::find(choices.begin(), choices.end(), *written) == choices.end())
      choices.push_back(*std::move(written));
  }
  if (keyword == "oneOf")
    for (size_t i = 0; i < flat.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (!are_disjoint(*flat[j], *flat[i], document_))
          return document_.refuse(
              place.where, keyword,
              fmt::format("its schemas {} and {} may both accept one value; use anyOf, or a "
                          "required property with a different constant in each",
                          j, i));
  return join(choices);
}

Written SchemaWriter::constants(const Json& schema, const Place& place) {
  for (const auto& [key, value] : schema.items())
    if (is_assertion(key) && key != "enum" && key != "const" && key != "type")
      return document_.refuse(place.where, key, "it stands beside a list of values");
  Json values = Json::array();
  if (schema.contains("const")) {
    values.push_back(schema.at("const"));
  } else if (!schema.at("enum").is_array()) {
    return document_.refuse(place.where, "enum", "it must be an array");
  } else {
    values = schema.at("enum");
  }
  Types types;
  if (schema.contains("type")) {
    TRY_ASSIGN(types, types_of(schema, document_, place.where));
  }
  std::vector<std::string> choices;
  for (const Json& value : values) {
    TRY(document_.spend(place.where, place.depth));
    const bool typed = types.empty() || std::any_of(types.begin(), types.end(), [&](const std::string& type) {
                         return has_type(value, type);
                       });
    const bool listed =
        !schema.contains("const") || !schema.contains("enum") ||
        std::find(schema.at("enum").begin(), schema.at("enum").end(), value) != schema.at("enum").end();
    auto text = constant(value);
    if (text && typed && listed && std::find(choices.begin(), choices.end(), *text) == choices.end())
      choices.push_back(*std::move(text));
  }
  const auto joined = join(choices);
  return joined ? std::optional(grammar_.rule("constant", *joined)) : std::nullopt;
}

Written SchemaWriter::of_type(const Json& schema, const std::string& type, const Place& place) {
  if (type == "object") return object(schema, place);
  if (type == "array") return array(schema, place);
  if (type == "string") return string(schema, place);
  if (type == "number" || type == "integer") return number(schema, type == "integer", place);
  if (type == "null") return std::optional(literal(syntax_.none));
  return std::optional(fmt::format("({} | {})", literal(syntax_.yes), literal(syntax_.no)));
}

Result<SchemaWriter::Count> SchemaWriter::count(const Json& schema, std::string_view least,
                                                std::string_view most, const Place& place) const {
  Count result;
  const auto read = [&](std::string_view keyword) -> Result<std::optional<int64_t>> {
    if (!schema.contains(keyword)) return std::nullopt;
    const Json& value = schema.at(keyword);
    const double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0) || number != static_cast<double>(static_cast<int64_t>(std::min(number, 1e15))))
      return document_.refuse(place.where, keyword, "it must be a whole number of at least 0");
    return static_cast<int64_t>(number);
  };
  TRY_ASSIGN(const auto lower, read(least));
  TRY_ASSIGN(result.most, read(most));
  result.least = lower.value_or(0);
  if (result.least > limits::kMaxRegexSize)
    return document_.refuse(place.where, least, fmt::format("it is more than {}", limits::kMaxRegexSize));
  if (result.most && *result.most > limits::kMaxRegexSize)
    result.most.reset(), result.most = limits::kMaxRegexSize;
  return result;
}

std::string SchemaWriter::any_object() {
  const std::string member = any_string() + " " + colon() + " " + any_value();
  return grammar_.rule("object", fmt::format("\"{{\" ({} ({} {})*)? \"}}\"", member, comma(), member));
}

std::string SchemaWriter::any_value() {
  constexpr std::string_view kName =
      "value";  // the one rule with a fixed name: it and its parts need each other
  if (references_.emplace(nullptr, kName).second) {
    const std::string object = any_object();
    const std::string array =
        grammar_.rule("array", fmt::format("\"[\" (value ({} value)*)? \"]\"", comma()));
    const std::string number = *numbers_within({}, grammar_);
    grammar_.define(std::string(kName),
                    fmt::format("{} | {} | {} | {} | {} | {} | {}", object, array, any_string(), number,
                                literal(syntax_.yes), literal(syntax_.no), literal(syntax_.none)));
  }
  return std::string(kName);
}

Written SchemaWriter::members(const Json& schema) {
  static const std::string kHere;
  TRY(document_.spend(kHere, 0));
  const Json* own = &schema;
  if (is_reference(schema)) {
    TRY_ASSIGN(own, document_.resolve(schema.at("$ref"), kHere));
  }
  static const Json kAny = {{"type", "object"}};
  if (*own == true) own = &kAny;
  if (!own->is_object()) return document_.refuse(kHere, "", "a schema must be an object");
  TRY_ASSIGN(own, document_.flatten(*own, kHere, 0));
  if (!own->is_object()) return std::nullopt;
  const Place place{kHere, 0, true};
  TRY(refuse_unsupported(*own, place));
  for (const std::string_view keyword : {"anyOf", "oneOf", "enum", "const"})
    if (own->contains(keyword))
      return document_.refuse(kHere, keyword, "this model writes arguments as one object with these names");
  TRY_ASSIGN(const Types types, types_of(*own, document_, kHere));
  if (std::find(types.begin(), types.end(), "object") == types.end()) return std::nullopt;
  return object(*own, place);
}

}  // namespace tempo9::grammar
