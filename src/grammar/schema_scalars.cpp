// Numbers.
#include <cmath>

#include "grammar/number_range.h"
#include "grammar/schema_writer.h"

namespace tempo9::grammar {
namespace {

constexpr int64_t kMostMultiples = 1024;  // written one by one
constexpr int64_t kGreatestDivisor = 100;

}  // namespace

Written SchemaWriter::number(const Json& schema, bool integers, const Place& place) {
  if (schema.contains("multipleOf")) return multiples(schema, place);
  NumberBounds bounds;
  bounds.integers = integers;
  const auto tighten = [&](std::string_view keyword, bool low, bool excluded) -> Status {
    if (!schema.contains(keyword) || schema.at(keyword).is_boolean()) return {};
    const Json& value = schema.at(keyword);
    if (!value.is_number()) return document_.refuse(place.where, keyword, "it must be a number");
    const auto decimal = parse_decimal(value.dump());
    if (!decimal) return document_.refuse(place.where, keyword, "it has too many digits");
    auto& bound = low ? bounds.low : bounds.high;
    bool& is_excluded = low ? bounds.low_excluded : bounds.high_excluded;
    const int order = bound ? (low ? compare(*decimal, *bound) : compare(*bound, *decimal)) : 1;
    if (order > 0 || (order == 0 && excluded)) bound = *decimal, is_excluded = excluded;
    return {};
  };
  // Draft 4 has `exclusiveMinimum: true` beside `minimum`.
  const auto is_true = [&](std::string_view keyword) {
    return schema.contains(keyword) && schema.at(keyword) == true;
  };
  TRY(tighten("minimum", true, is_true("exclusiveMinimum")));
  TRY(tighten("exclusiveMinimum", true, true));
  TRY(tighten("maximum", false, is_true("exclusiveMaximum")));
  TRY(tighten("exclusiveMaximum", false, true));
  const auto expression = numbers_within(bounds, grammar_);
  return expression ? std::optional(grammar_.rule("number", *expression)) : std::nullopt;
}

// Whole multiples of a small number: all, those of at least 0, or a list of them.
Written SchemaWriter::multiples(const Json& schema, const Place& place) {
  const auto refuse = [&](std::string_view why) { return document_.refuse(place.where, "multipleOf", why); };
  const Json& value = schema.at("multipleOf");
  if (!value.is_number() || value.get<double>() != std::floor(value.get<double>()) ||
      value.get<double>() < 1 || value.get<double>() > 1e9)
    return refuse("only whole numbers from 1 to 1000000000 are supported");
  const auto divisor = static_cast<int64_t>(value.get<double>());
  const auto bound = [&](std::string_view plain, std::string_view exclusive,
                         bool low) -> Result<std::optional<int64_t>> {
    std::optional<int64_t> result;
    for (const std::string_view keyword : {plain, exclusive}) {
      if (!schema.contains(keyword)) continue;
      const double number = schema.at(keyword).is_number() ? schema.at(keyword).get<double>() : NAN;
      if (!(std::abs(number) < 1e15))
        return refuse("a bound beside it is no number that it can be kept with");
      int64_t whole = static_cast<int64_t>(low ? std::ceil(number) : std::floor(number));
      if (keyword == exclusive && static_cast<double>(whole) == number) whole += low ? 1 : -1;
      if (!result || (low ? whole > *result : whole < *result)) result = whole;
    }
    return result;
  };
  TRY_ASSIGN(const auto low, bound("minimum", "exclusiveMinimum", true));
  TRY_ASSIGN(const auto high, bound("maximum", "exclusiveMaximum", false));
  if (low && high) {
    const auto first =
        static_cast<int64_t>(std::ceil(static_cast<double>(*low) / static_cast<double>(divisor)));
    const auto last =
        static_cast<int64_t>(std::floor(static_cast<double>(*high) / static_cast<double>(divisor)));
    if (first > last) return std::nullopt;
    if (last - first >= kMostMultiples)
      return refuse(fmt::format("more than {} multiples are within the bounds", kMostMultiples));
    std::string choices;
    for (int64_t i = first; i <= last; ++i)
      choices += fmt::format("{}\"{}\"", i == first ? "" : " | ", i * divisor);
    return std::optional(grammar_.rule("multiple", choices));
  }
  if (divisor > kGreatestDivisor)
    return refuse(fmt::format("it is above {} without two bounds", kGreatestDivisor));
  if (high || (low && *low > 1))
    return refuse("it is supported with two bounds, with none, or with a minimum of 0 or 1");
  // A rule for each remainder of the digits so far.
  std::vector<std::string> remainders;
  for (int64_t r = 0; r < divisor; ++r) remainders.push_back(grammar_.reserve("remainder"));
  const auto next = [&](int64_t remainder, int64_t first_digit) {
    std::string choices;
    for (int64_t d = first_digit; d <= 9; ++d)
      choices += fmt::format("{}\"{}\" {}", d == first_digit ? "" : " | ", d,
                             remainders[static_cast<size_t>((remainder * 10 + d) % divisor)]);
    return choices;
  };
  for (int64_t r = 0; r < divisor; ++r)
    grammar_.define(remainders[static_cast<size_t>(r)], (r == 0 ? "\"\" | " : "") + next(r, 0));
  const std::string sign = low ? "" : "\"-\"? ", zero = low && *low > 0 ? "" : "\"0\" | ";
  return std::optional(grammar_.rule("multiple", fmt::format("{}{}({})", zero, sign, next(0, 1))));
}

}  // namespace tempo9::grammar
