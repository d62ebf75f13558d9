// Arrays.
#include <algorithm>

#include "grammar/schema_writer.h"

namespace tempo9::grammar {

// What may follow the items that have a schema of their own; nothing if none may.
Result<std::optional<std::string>> SchemaWriter::rest_of_array(const Json& schema, bool has_prefix,
                                                               int64_t missing, const Place& place) {
  const bool old_style = schema.contains("items") && schema.at("items").is_array();  // before draft 2020-12
  const std::string keyword = old_style ? "additionalItems" : "items";
  if (schema.contains(keyword))
    return value(schema.at(keyword), below(place.where, keyword), place.depth + 1);
  if (schema.contains("unevaluatedItems"))
    return value(schema.at("unevaluatedItems"), below(place.where, "unevaluatedItems"), place.depth + 1);
  if (has_prefix && missing <= 0) return std::nullopt;
  return std::optional(any_value());
}

Written SchemaWriter::array(const Json& schema, const Place& place) {
  TRY_ASSIGN(Count items, count(schema, "minItems", "maxItems", place));
  if (schema.contains("uniqueItems") && schema.at("uniqueItems") != false && items.most.value_or(2) > 1)
    return document_.refuse(place.where, "uniqueItems", "it is not supported");
  const bool old_style = schema.contains("items") && schema.at("items").is_array();
  const std::string keyword = old_style ? "items" : "prefixItems";
  std::vector<std::string> prefix;
  bool ended = false;  // by an item that nothing satisfies
  if (schema.contains(keyword)) {
    if (!schema.at(keyword).is_array()) return document_.refuse(place.where, keyword, "it must be an array");
    const std::string here = below(place.where, keyword);
    for (size_t i = 0; i < schema.at(keyword).size() && !ended; ++i) {
      TRY_ASSIGN(auto item, value(schema.at(keyword)[i], below(here, std::to_string(i)), place.depth + 1));
      ended = !item;
      if (item) prefix.push_back(*std::move(item));
    }
  }
  const auto fixed = static_cast<int64_t>(prefix.size());
  std::optional<std::string> rest;
  if (!ended) {
    TRY_ASSIGN(rest, rest_of_array(schema, fixed > 0, items.least - fixed, place));
  }
  if (!rest) items.most = std::min(items.most.value_or(fixed), fixed);
  if (items.most && items.least > *items.most) return std::nullopt;

  // From the end: what stands behind i items. Up to the least number nothing of it may be missing.
  const auto separated = [&](int64_t i, const std::string& item) {
    return i == 0 ? item : comma() + " " + item;
  };
  std::string tail;
  const int64_t more_least = std::max<int64_t>(0, items.least - fixed);
  const bool more = rest && (!items.most || *items.most > fixed);
  if (more) {
    const std::string bounds = items.most ? fmt::format("{{{},{}}}", more_least, *items.most - fixed)
                                          : fmt::format("{{{},}}", more_least);
    tail = fmt::format("({} {}){}", comma(), *rest, bounds);
    if (fixed == 0) {
      const int64_t least = std::max<int64_t>(0, more_least - 1);
      const std::string others =
          items.most ? fmt::format("{{{},{}}}", least, *items.most - 1) : fmt::format("{{{},}}", least);
      tail = fmt::format("({} ({} {}){}){}", *rest, comma(), *rest, others, items.least == 0 ? "?" : "");
    }
  }
  for (int64_t i = std::min(fixed, items.most.value_or(fixed)); i-- > 0;) {
    tail = separated(i, prefix[static_cast<size_t>(i)]) + (tail.empty() ? "" : " " + tail);
    if (i >= items.least) tail = "(" + tail + ")?";
  }
  return std::optional(grammar_.rule("array", "\"[\" " + tail + (tail.empty() ? "" : " ") + "\"]\""));
}

}  // namespace tempo9::grammar
