// Objects.
#include <algorithm>

#include "grammar/regex.h"
#include "grammar/schema_writer.h"
#include "grammar/utf8.h"

namespace tempo9::grammar {
namespace {

// Names are told apart by as many characters; a key that begins like a longer one is not written at all.
constexpr size_t kComparedCharacters = 200;
constexpr std::string_view kKeyCharacter =
    "[^\"\\\\\\x00-\\x1F]";  // no escapes: they would be other spellings

const Json& no_properties() {
  static const Json none = Json::object();
  return none;
}

bool is_plain(const std::u32string& name) {
  return std::none_of(name.begin(), name.end(), [](char32_t c) { return c < 0x20 || c == '"' || c == '\\'; });
}

// A key, from its character `at` to the closing quote, that none of `names` is. These are equal up to there.
std::string key_besides(const std::vector<std::u32string>& names, size_t at, Ebnf& grammar) {
  std::map<char32_t, std::vector<std::u32string>> by_next;
  bool is_name = false;
  CodePointSet others = {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
  for (const std::u32string& name : names) {
    if (name.size() == at) {
      is_name = true;
    } else {
      by_next[name[at]].push_back(name);
      others.add({name[at], name[at]});
    }
  }
  std::string text = fmt::format("{}{} {}* \"\\\"\"", is_name ? "" : "\"\\\"\" | ",
                                 others.complement().to_class(), kKeyCharacter);
  for (const auto& [next, longer] : by_next)
    if (at < kComparedCharacters)
      text += fmt::format(" | {} {}", CodePointSet{{next, next}}.to_class(),
                          key_besides(longer, at + 1, grammar));
  return grammar.rule("key", std::move(text));
}

}  // namespace

// A key that is none of the names; those that only escapes can spell are none anyway.
std::string SchemaWriter::other_key(const Json& properties) {
  std::vector<std::u32string> names;
  for (const auto& [name, schema] : properties.items())
    if (std::u32string plain = code_points(name); is_plain(plain)) names.push_back(std::move(plain));
  return "\"\\\"\" " + key_besides(names, 0, grammar_);
}

// The value of properties that the schema does not name; nothing if there are none.
Written SchemaWriter::additional(const Json& schema, const Place& place) {
  const bool named = schema.contains("properties") && !schema.at("properties").empty();
  for (const std::string_view keyword : {"additionalProperties", "unevaluatedProperties"}) {
    if (!schema.contains(keyword)) continue;
    if (keyword == "unevaluatedProperties" && named) return std::nullopt;
    return value(schema.at(keyword), below(place.where, keyword), place.depth + 1);
  }
  if (named) return std::nullopt;
  return std::optional(any_value());
}

// Properties in the schema's order, then those that it only requires. False: one that is required cannot be.
Result<bool> SchemaWriter::add_entries(const Json& schema, std::vector<Entry>& entries, const Place& place) {
  const Json& properties = schema.contains("properties") ? schema.at("properties") : no_properties();
  if (!properties.is_object()) return document_.refuse(place.where, "properties", "it must be an object");
  const Json required = schema.contains("required") ? schema.at("required") : Json::array();
  const bool names = required.is_array() && std::all_of(required.begin(), required.end(),
                                                        [](const Json& name) { return name.is_string(); });
  if (!names) return document_.refuse(place.where, "required", "it must be an array of names");
  const auto add = [&](const std::string& name, const Json& own, const std::string& where,
                       bool is_required) -> Result<bool> {
    TRY_ASSIGN(const auto written, value(own, where, place.depth + 1));
    if (!written) return !is_required;
    const auto name_and_more = key(name, place.outermost);
    if (!name_and_more)
      return document_.refuse(place.where, "properties",
                              fmt::format("this model cannot write a property of the name '{}'", name));
    entries.push_back({*name_and_more + " " + *written, is_required});
    return true;
  };
  const std::string here = below(place.where, "properties");
  for (const auto& [name, own] : properties.items()) {
    const bool is_required = std::find(required.begin(), required.end(), name) != required.end();
    TRY_ASSIGN(const bool possible, add(name, own, below(here, name), is_required));
    if (!possible) return false;
  }
  const Json& others =
      schema.contains("additionalProperties") ? schema.at("additionalProperties") : Json(true);
  for (size_t i = 0; i < required.size(); ++i) {
    const auto name = required[i].get<std::string>();
    if (properties.contains(name) || std::find(required.begin(), required.begin() + static_cast<ptrdiff_t>(i),
                                               name) != required.begin() + static_cast<ptrdiff_t>(i))
      continue;
    TRY_ASSIGN(const bool possible, add(name, others, below(place.where, "additionalProperties"), true));
    if (!possible) return false;
  }
  return true;
}

// The entries in order, each that is not required or not, then any number of `others`.
std::string SchemaWriter::write_object(const std::vector<Entry>& entries,
                                       const std::optional<std::string>& others, bool may_be_empty,
                                       bool outermost) {
  const auto first_required = static_cast<size_t>(
      std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.required; }) -
      entries.begin());
  // What may stand behind entry i - 1. Behind the first required entry all of it is one line; before that,
  // what has been written decides whether there is a comma.
  const std::string end = others ? fmt::format("({} {})*", comma(), *others) : "\"\"";
  std::string tail;
  for (size_t i = first_required + 1; i < entries.size(); ++i)
    tail += fmt::format("({} {}){} ", comma(), entries[i].text, entries[i].required ? "" : "?");
  tail = grammar_.rule("members", tail + end);
  std::vector<std::string> choices;
  if (first_required < entries.size()) {
    tail = grammar_.rule("members", entries[first_required].text + " " + tail);
    choices.push_back(tail);
    tail = grammar_.rule("members", comma() + " " + tail);
  } else if (others) {
    choices.push_back(*others + " " + tail);
  }
  for (size_t i = first_required; i-- > 0;) {
    choices.push_back(entries[i].text + " " + tail);
    tail = grammar_.rule("members", fmt::format("({} {})? {}", comma(), entries[i].text, tail));
  }
  if (choices.empty()) return grammar_.rule("object", braced("\"\"", outermost));
  return grammar_.rule(
      "object", braced(fmt::format("({}){}", fmt::join(choices, " | "), may_be_empty ? "?" : ""), outermost));
}

std::string SchemaWriter::braced(const std::string& members, bool outermost) const {
  return outermost ? members : fmt::format("\"{{\" {} \"}}\"", members);
}

Written SchemaWriter::object(const Json& schema, const Place& place) {
  const bool named = (schema.contains("properties") && !schema.at("properties").empty()) ||
                     (schema.contains("required") && !schema.at("required").empty());
  if (!named) return map(schema, place);
  for (const std::string_view keyword : {"patternProperties", "propertyNames"})
    if (schema.contains(keyword))
      return document_.refuse(place.where, keyword, "properties that the schema names stand beside it");
  TRY_ASSIGN(const Count members, count(schema, "minProperties", "maxProperties", place));
  std::vector<Entry> entries;
  TRY_ASSIGN(const bool possible, add_entries(schema, entries, place));
  if (!possible) return std::nullopt;
  TRY_ASSIGN(auto others, additional(schema, place));
  const auto required =
      std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return e.required; });
  if (members.most && *members.most < required) return std::nullopt;
  if (members.most && others && *members.most == static_cast<int64_t>(entries.size())) others.reset();
  if (members.most && (others || *members.most < static_cast<int64_t>(entries.size())))
    return document_.refuse(place.where, "maxProperties", "properties that the schema names stand beside it");
  if (members.least > std::max<int64_t>(required, 1))
    return document_.refuse(place.where, "minProperties", "it is more than what the schema requires by name");
  if (others) {
    Json names = schema.contains("properties") ? schema.at("properties") : no_properties();
    if (schema.contains("required"))
      for (const Json& name : schema.at("required")) names[name.get<std::string>()] = true;
    // Names without quotes are those that the schema lists.
    if (place.outermost && !syntax_.bare_keys)
      others.reset();
    else
      others = other_key(names) + " " + colon() + " " + *others;
  }
  if (entries.empty() && !others && members.least > 0) return std::nullopt;
  return std::optional(write_object(entries, others, required == 0 && members.least == 0, place.outermost));
}

// The keys of an object that names no properties: any, or those that a schema or the only pattern describes.
Result<std::optional<std::string>> SchemaWriter::keys_of_map(const Json& schema, const Place& place) {
  const bool words = place.outermost && !syntax_.bare_keys;
  for (const std::string_view keyword : {"propertyNames", "patternProperties"})
    if (words && schema.contains(keyword))
      return document_.refuse(place.where, keyword, "this model writes arguments with names that are listed");
  if (schema.contains("propertyNames")) {
    TRY_ASSIGN(const Json* names, document_.flatten(schema.at("propertyNames"),
                                                    below(place.where, "propertyNames"), place.depth + 1));
    TRY_ASSIGN(names, document_.both(Json{{"type", "string"}}, *names, place.where, place.depth + 1));
    return value(*names, below(place.where, "propertyNames"), place.depth + 1);
  }
  if (!schema.contains("patternProperties"))
    return std::optional(words ? "[A-Za-z_] [A-Za-z0-9_]*" : other_key(no_properties()));
  const auto pattern = schema.at("patternProperties").items().begin();
  const auto parsed = parse_regex(pattern.key(), RegexMatch::kAnywhere);
  if (!parsed) return document_.refuse(place.where, "patternProperties", parsed.error().message);
  const auto key = to_ebnf(*parsed, Spelling::json());
  if (!key) return std::nullopt;
  return std::optional(grammar_.rule("key", "\"\\\"\" " + *key + " \"\\\"\""));
}

Written SchemaWriter::map(const Json& schema, const Place& place) {
  TRY_ASSIGN(const Count members, count(schema, "minProperties", "maxProperties", place));
  const bool patterned = schema.contains("patternProperties") && !schema.at("patternProperties").empty();
  if (patterned) {
    if (!schema.at("patternProperties").is_object() || schema.at("patternProperties").size() > 1)
      return document_.refuse(place.where, "patternProperties", "only one pattern is supported");
    if (schema.contains("propertyNames"))
      return document_.refuse(place.where, "patternProperties", "'propertyNames' stands beside it");
    if (schema.contains("additionalProperties") && schema.at("additionalProperties") != false)
      return document_.refuse(place.where, "patternProperties", "'additionalProperties' stands beside it");
  }
  // Keys may come twice, and then count once.
  if (members.least > 1)
    return document_.refuse(place.where, "minProperties",
                            "more than 1 is supported for properties required by name only");
  std::optional<std::string> own;
  if (patterned) {
    const auto pattern = schema.at("patternProperties").items().begin();
    const std::string here = below(place.where, "patternProperties");
    TRY_ASSIGN(own, value(pattern.value(), below(here, pattern.key()), place.depth + 1));
  } else {
    TRY_ASSIGN(own, additional(schema, place));
  }
  std::optional<std::string> key;
  if (own) {
    TRY_ASSIGN(key, keys_of_map(schema, place));
  }
  if (!own || !key || members.most == 0) {
    if (members.least > 0) return std::nullopt;
    return std::optional(grammar_.rule("object", braced("\"\"", place.outermost)));
  }
  const std::string behind = literal(place.outermost ? syntax_.assign : syntax_.colon);
  const std::string member = grammar_.rule("member", fmt::format("{} {} {}", *key, behind, *own));
  const std::string more = members.most ? fmt::format("{{0,{}}}", *members.most - 1) : "*";
  const std::string list =
      fmt::format("({} ({} {}){}){}", member, comma(), member, more, members.least == 0 ? "?" : "");
  return std::optional(grammar_.rule("object", braced(list, place.outermost)));
}

}  // namespace tempo9::grammar
