// Strings.
#include <algorithm>
#include <utility>

#include "grammar/formats.h"
#include "grammar/regex.h"
#include "grammar/schema_writer.h"
#include "grammar/utf8.h"

namespace tempo9::grammar {
namespace {

using Texts = ValueSyntax::Texts;

constexpr std::string_view kCharacter = "[^\"\\\\\\x00-\\x1F]";  // that stands in a JSON string as it is
constexpr int64_t kBlock = 32;  // most tokens have no more than half as many characters

}  // namespace

// Texts that end with words of plain text have no character that these begin with: a grammar of characters
// cannot say "but not these words".
CodePointSet SchemaWriter::outside() const {
  if (syntax_.texts == Texts::kJson || quote_token_ || syntax_.quote.empty()) return {};
  const auto first = static_cast<char32_t>(syntax_.quote.front());
  return {{first, first}};
}

std::string SchemaWriter::quote() const {
  if (syntax_.texts == Texts::kJson) return literal("\"");
  if (syntax_.texts == Texts::kBare) return "\"\"";
  return quote_token_ ? fmt::format("Token({})", *quote_token_) : literal(syntax_.quote);
}

std::string SchemaWriter::quoted(const std::string& text) const {
  return fmt::format("{} {} {}", quote(), text, quote());
}

Written SchemaWriter::string(const Json& schema, const Place& place) {
  TRY_ASSIGN(const Count wanted, count(schema, "minLength", "maxLength", place));
  if (wanted.most && wanted.least > *wanted.most) return std::nullopt;
  const bool has_pattern = schema.contains("pattern"), has_format = schema.contains("format");
  const std::string keyword = has_pattern ? "pattern" : "format";
  if (!has_pattern && !has_format) {
    if (wanted.least == 0 && !wanted.most) return std::optional(any_string());
    return std::optional(bounded_string(wanted));
  }
  if (has_pattern && has_format) return document_.refuse(place.where, "pattern", "'format' stands beside it");
  const Json& source = schema.at(keyword);
  if (!source.is_string()) return document_.refuse(place.where, keyword, "it must be a string");
  std::string pattern = source.get<std::string>();
  if (has_format) {
    const auto known = format_pattern(pattern);
    if (!known)
      return document_.refuse(place.where, "format",
                              fmt::format("'{}' is not one of {}", pattern, format_names()));
    pattern = *known;
  }
  const auto parsed = parse_regex(pattern, has_format ? RegexMatch::kWhole : RegexMatch::kAnywhere);
  if (!parsed) return document_.refuse(place.where, keyword, parsed.error().message);
  const auto fitted = with_lengths(*parsed, {wanted.least, wanted.most});
  if (!fitted)
    return document_.refuse(place.where, keyword,
                            fmt::format("'{}' stands beside it, and both together are not supported",
                                        schema.contains("maxLength") ? "maxLength" : "minLength"));
  const auto body =
      to_ebnf(*fitted, syntax_.texts == Texts::kJson ? Spelling::json() : Spelling{outside(), false});
  if (!body) return std::nullopt;
  return std::optional(grammar_.rule("string", quoted(*body)));
}

// What ends a string is part of what repeats: with a repeat apart from the quote behind it, each token with a
// quote in it would be looked at anew for every mask, which takes a thousand times as long.
std::string SchemaWriter::any_string() {
  if (!string_.empty()) return string_;
  string_ = grammar_.reserve("string");
  const std::string rest = characters_ = grammar_.reserve("characters");
  if (syntax_.texts == Texts::kJson)
    grammar_.define(rest, fmt::format("\"\\\"\" | {0} {2} | \"\\\\\" {1} {2}", kCharacter, escape(), rest));
  else
    grammar_.define(rest, fmt::format("{0} | {1} {2}", quote(), outside().complement().to_class(), rest));
  grammar_.define(string_, quote() + " " + rest);
  return string_;
}

// A string of bounded length, in several ways at once: what one way allows, the matcher does not look at for
// the others. A repeat of one class is the cheapest, but knows no escapes. A repeat of a rule for one
// character would be exact, but the matcher would look at every token of more than one character anew for
// each mask: they run over the end of what repeats. So what repeats is a block of characters, one rule for
// each, with shorter ones for the rest. Near the end of a block the same would happen; therefore all texts
// but the longest are written in blocks that begin half a block later as well.
std::string SchemaWriter::bounded_string(const Count& wanted) {
  const bool escapes = syntax_.texts == Texts::kJson;
  const std::string plain =
      fmt::format("{}{{{},{}}}", escapes ? std::string(kCharacter) : outside().complement().to_class(),
                  wanted.least, wanted.most ? std::to_string(*wanted.most) : "");
  if (!escapes) return grammar_.rule("string", quoted(plain));
  const std::string end = grammar_.rule("end", quote());
  const std::string block = characters(kBlock, "", false);
  std::string rest = end;
  if (!wanted.most) {
    any_string();
    rest = characters_;
  } else if (const int64_t range = *wanted.most - wanted.least; range < 3 * kBlock) {
    rest = characters(range, end, true);
  } else {
    const std::string last = characters(kBlock - 1, end, true);
    const auto in_blocks = [&](int64_t lead, int64_t blocks) {
      return characters(lead, grammar_.rule("blocks", fmt::format("{}{{0,{}}} {}", block, blocks, last)),
                        true);
    };
    const int64_t lead = (range + 1) % kBlock, blocks = (range + 1) / kBlock;
    rest = grammar_.rule("text", fmt::format("{} | {}", in_blocks(lead, blocks - 1),
                                             in_blocks(lead + kBlock / 2, blocks - 2)));
  }
  rest = characters(wanted.least % kBlock, rest, false);
  const int64_t before = wanted.least / kBlock;
  const std::string blocks = before == 0 ? "" : fmt::format("{}{{{},{}}}", block, before, before);
  return grammar_.rule("string", fmt::format("{0} {1} {0} | {0} {2} {3}", quote(), plain, blocks, rest));
}

// `count` characters and then `rest`; or fewer and the end of the string.
std::string SchemaWriter::characters(int64_t count, std::string rest, bool or_fewer) {
  for (; count > 0; --count)
    rest = grammar_.rule("text", fmt::format("{}{} {} | \"\\\\\" {} {}", or_fewer ? quote() + " | " : "",
                                             kCharacter, rest, escape(), rest));
  return rest;
}

// Of the escapes by number only those that are no surrogate: alone these stand for nothing.
std::string SchemaWriter::escape() {
  return grammar_.rule("escape", "[\"\\\\/bfnrt] | \"u00\" [0-9a-fA-F] [0-9a-fA-F]");
}

// One value, as it stands. Nothing where its texts cannot be written.
std::optional<std::string> SchemaWriter::constant(const Json& value) const {
  if (syntax_ == ValueSyntax{}) return literal(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (value.is_null()) return literal(syntax_.none);
  if (value.is_boolean()) return literal(value == true ? syntax_.yes : syntax_.no);
  if (value.is_string() && syntax_.texts != Texts::kJson) {
    for (const char32_t character : code_points(value.get_ref<const std::string&>()))
      if (outside().contains(character)) return std::nullopt;
    return quoted(literal(value.get_ref<const std::string&>()));
  }
  if (!value.is_structured()) return literal(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string text = literal(value.is_object() ? "{" : "[");
  bool first = true;
  for (const auto& [name, member] : value.items()) {
    const auto written = constant(member);
    const auto key = value.is_object() ? this->key(name, false) : std::string();
    if (!written || !key) return std::nullopt;
    text += fmt::format(" {} {} {}", std::exchange(first, false) ? "\"\"" : comma(), *key, *written);
  }
  return text + " " + literal(value.is_object() ? "}" : "]");
}

// The name of a property and what stands behind it, outermost or not. Nothing where it cannot be written.
std::optional<std::string> SchemaWriter::key(const std::string& name, bool outermost) const {
  const std::string behind = outermost ? syntax_.assign : syntax_.colon;
  const bool bare = syntax_.bare_keys || outermost;
  const bool is_word = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (bare && is_word) return literal(name + behind);
  if (outermost && !syntax_.bare_keys) return std::nullopt;
  const std::string text = Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
  return literal(text + behind);
}

}  // namespace tempo9::grammar
