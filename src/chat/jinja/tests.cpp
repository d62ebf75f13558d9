#include "chat/jinja/tests.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "chat/jinja/bind.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/number.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/string_search.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

using Property = bool (*)(const Value&);

// A test without arguments that cannot fail.
template <Property property>
Result<bool> has(Runtime&, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "test", {}));
  return property(value);
}

bool is_defined(const Value& value) {
  return !value.is_undefined();
}
bool is_undefined(const Value& value) {
  return value.is_undefined();
}
bool is_none(const Value& value) {
  return value.is_none();
}
bool is_boolean(const Value& value) {
  return value.is(Kind::kBool);
}
bool is_true(const Value& value) {
  return value.is(Kind::kBool) && value.boolean();
}
bool is_false(const Value& value) {
  return value.is(Kind::kBool) && !value.boolean();
}
bool is_integer(const Value& value) {
  return value.is(Kind::kInteger);
}
bool is_float(const Value& value) {
  return value.is(Kind::kFloat);
}
bool is_any_number(const Value& value) {
  return is_number(value);
}
bool is_string(const Value& value) {
  return value.is_string();
}
bool is_mapping(const Value& value) {
  return value.is(Kind::kDict);
}
bool is_escaped(const Value& value) {
  return value.is_string() && value.text().is_markup();
}
bool is_callable(const Value& value) {
  // Python finds a __call__ in undefined values, too.
  return value.is_undefined() || (value.is(Kind::kObject) && value.object().is_callable());
}

// What has a length and items.
bool is_sequence(const Value& value) {
  if (value.is(Kind::kObject)) return value.object().is_indexable();
  return is_iterable(value);
}

template <bool odd>
Result<bool> has_parity(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "test", {}));
  TRY_ASSIGN(const Value rest, apply(runtime, BinaryOperator::kModulo, value, Integer{2}));
  return equals(rest, Integer{odd});
}

Result<bool> is_divisible_by(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "divisibleby", {"num"}, 1));
  TRY_ASSIGN(const Value rest, apply(runtime, BinaryOperator::kModulo, value, *bound[0]));
  return equals(rest, Integer{0});
}

template <bool upper>
Result<bool> is_case_of(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "test", {}));
  TRY_ASSIGN(const Text text, to_str(runtime, value));
  return upper ? is_case(text.view(), unicode::is_upper, unicode::is_lower)
               : is_case(text.view(), unicode::is_lower, unicode::is_upper);
}

template <Comparison comparison>
Result<bool> compares(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "test", {""}, 1));
  return compare(runtime, comparison, value, *bound[0]);
}

Result<bool> is_same_as(Runtime&, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "sameas", {"other"}, 1));
  return value.is_same(*bound[0]);
}

Result<bool> is_filter_name(Runtime&, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "filter", {}));
  return value.is_string() && find_filter(value.view()) != nullptr;
}

Result<bool> is_test_name(Runtime&, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "test", {}));
  return value.is_string() && find_test(value.view()) != nullptr;
}

constexpr std::pair<std::string_view, TestFunction> kTests[] = {
    {"!=", compares<Comparison::kNotEqual>},
    {"<", compares<Comparison::kLess>},
    {"<=", compares<Comparison::kLessEqual>},
    {"==", compares<Comparison::kEqual>},
    {">", compares<Comparison::kGreater>},
    {">=", compares<Comparison::kGreaterEqual>},
    {"boolean", has<is_boolean>},
    {"callable", has<is_callable>},
    {"defined", has<is_defined>},
    {"divisibleby", is_divisible_by},
    {"eq", compares<Comparison::kEqual>},
    {"equalto", compares<Comparison::kEqual>},
    {"escaped", has<is_escaped>},
    {"even", has_parity<false>},
    {"false", has<is_false>},
    {"filter", is_filter_name},
    {"float", has<is_float>},
    {"ge", compares<Comparison::kGreaterEqual>},
    {"greaterthan", compares<Comparison::kGreater>},
    {"gt", compares<Comparison::kGreater>},
    {"in", compares<Comparison::kIn>},
    {"integer", has<is_integer>},
    {"iterable", has<is_iterable>},
    {"le", compares<Comparison::kLessEqual>},
    {"lessthan", compares<Comparison::kLess>},
    {"lower", is_case_of<false>},
    {"lt", compares<Comparison::kLess>},
    {"mapping", has<is_mapping>},
    {"ne", compares<Comparison::kNotEqual>},
    {"none", has<is_none>},
    {"number", has<is_any_number>},
    {"odd", has_parity<true>},
    {"sameas", is_same_as},
    {"sequence", has<is_sequence>},
    {"string", has<is_string>},
    {"test", is_test_name},
    {"true", has<is_true>},
    {"undefined", has<is_undefined>},
    {"upper", is_case_of<true>},
};
static_assert(std::ranges::is_sorted(kTests, {}, &std::pair<std::string_view, TestFunction>::first));

}  // namespace

TestFunction find_test(std::string_view name) {
  const auto* found =
      std::ranges::lower_bound(kTests, name, {}, &std::pair<std::string_view, TestFunction>::first);
  return found != std::end(kTests) && found->first == name ? found->second : nullptr;
}

}  // namespace tempo9::chat::jinja
