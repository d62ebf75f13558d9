// Filters that apply a filter or a test to every item: map, select, reject, selectattr, rejectattr. They give
// iterators: what goes wrong with an item matters only to a reader that gets to it.
#include <algorithm>

#include "chat/jinja/access.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/print.h"
#include "chat/jinja/tests.h"

namespace tempo9::chat::jinja {
namespace {

// Calls apply(item) -> Result<std::optional<Value>>, which may leave the item out, for every item.
template <class Apply>
Value iterate(Runtime& runtime, const Value& iterable, Apply apply) {
  std::vector<Value> results;
  if (!iterable.truthy()) return make_iterator(runtime, {});
  const auto run = [&]() -> Status {
    TRY_ASSIGN(Cursor cursor, Cursor::over(iterable));
    for (;;) {
      TRY_ASSIGN(const std::optional<Value> item, cursor.next(runtime));
      if (!item) return {};
      TRY_ASSIGN(std::optional<Value> result, apply(*item));
      if (result) TRY(runtime.push(results, *std::move(result)));
    }
  };
  const Status status = run();
  std::optional<Error> failure;
  if (!status) failure = status.error();
  return make_iterator(runtime, std::move(results), "generator", std::move(failure));
}

Value failed_iterator(Runtime& runtime, const tl::unexpected<Error>& failure) {
  return make_iterator(runtime, {}, "generator", failure.value());
}

Result<Arguments> behind(Runtime& runtime, const Arguments& arguments, size_t count) {
  TRY(runtime.reserve(arguments.positional.size() * sizeof(Value)));
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(count),
                         arguments.positional.end());
  rest.named = arguments.named;
  rest.recount(runtime.meter());
  return rest;
}

const Value* find_named(const Arguments& arguments, std::string_view name) {
  const auto found = std::ranges::find_if(arguments.named, [name](const auto& n) { return n.first == name; });
  return found == arguments.named.end() ? nullptr : &found->second;
}

// `map(attribute="a.b", default=x)`
Value map_attribute(Runtime& runtime, const Value& value, const Arguments& arguments,
                    const Value& attribute) {
  const Value* otherwise = find_named(arguments, "default");
  if (arguments.named.size() > (otherwise != nullptr ? 2u : 1u)) {
    return failed_iterator(runtime,
                           fail(ErrorCode::kInvalidArgument, "map got an unexpected keyword argument"));
  }
  return iterate(runtime, value, [&](const Value& item) -> Result<std::optional<Value>> {
    if (otherwise == nullptr || otherwise->is_none()) return get_path(runtime, item, attribute);
    return get_path(runtime, item, attribute, otherwise);
  });
}

Result<Value> map(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const Value* attribute = find_named(arguments, "attribute");
  if (arguments.positional.empty() && attribute != nullptr) {
    return map_attribute(runtime, value, arguments, *attribute);
  }
  if (arguments.positional.empty()) {
    return failed_iterator(runtime, fail(ErrorCode::kInvalidArgument, "map requires a filter argument"));
  }
  const Value& name = arguments.positional[0];
  const FilterFunction filter = name.is_string() ? find_filter(name.view()) : nullptr;
  TRY_ASSIGN(const Arguments rest, behind(runtime, arguments, 1));
  return iterate(runtime, value, [&](const Value& item) -> Result<std::optional<Value>> {
    if (filter == nullptr) {
      TRY_ASSIGN(const Text shown, to_repr(runtime, name));
      return fail(ErrorCode::kInvalidArgument, "no filter named {}", shorten(shown.view()));
    }
    return filter(runtime, item, rest);
  });
}

// `wanted`: which outcome of the test keeps an item. `by_attribute`: the test looks at an attribute, which is
// the first argument.
template <bool wanted, bool by_attribute>
Result<Value> select(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const size_t test_at = by_attribute ? 1 : 0;
  const auto& positional = arguments.positional;
  if (positional.size() < test_at) {
    return failed_iterator(runtime,
                           fail(ErrorCode::kInvalidArgument, "Missing parameter for attribute name"));
  }
  const bool has_test = positional.size() > test_at;
  const Value name = has_test ? positional[test_at] : Value();
  const TestFunction test = name.is_string() ? find_test(name.view()) : nullptr;
  TRY_ASSIGN(const Arguments rest, behind(runtime, arguments, test_at + (has_test ? 1 : 0)));
  return iterate(runtime, value, [&](const Value& item) -> Result<std::optional<Value>> {
    Value subject = item;
    if (by_attribute) {
      TRY_ASSIGN(subject, get_path(runtime, item, positional[0]));
    }
    bool passes = subject.truthy();
    if (has_test) {
      if (test == nullptr) {
        TRY_ASSIGN(const Text shown, to_repr(runtime, name));
        return fail(ErrorCode::kInvalidArgument, "no test named {}", shorten(shown.view()));
      }
      TRY_ASSIGN(passes, test(runtime, subject, rest));
    }
    if (passes != wanted) return std::nullopt;
    return item;
  });
}

constexpr FilterEntry kSelectionFilters[] = {
    {"map", map},
    {"reject", select<false, false>},
    {"rejectattr", select<false, true>},
    {"select", select<true, false>},
    {"selectattr", select<true, true>},
};

}  // namespace

std::span<const FilterEntry> selection_filters() {
  return kSelectionFilters;
}

}  // namespace tempo9::chat::jinja
