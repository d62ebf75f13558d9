// Filters over sequences and dicts.
#include <algorithm>
#include <set>

#include "chat/jinja/access.h"
#include "chat/jinja/bind.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

// Strings in lower case unless case matters.
Result<Value> fold_case(Runtime& runtime, Value value, bool case_sensitive) {
  if (case_sensitive || !value.is_string()) return value;
  constexpr size_t kGrowth = 8;  // bytes that one may need while the result grows
  TRY(runtime.reserve(kGrowth * value.text().size()));
  return runtime.string(value.text().derive(unicode::lower(value.view())));
}

Result<Value> length(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "length", {}));
  if (value.is_string()) runtime.charge_bytes(value.text().size());
  TRY_ASSIGN(const size_t size, length_of(value));
  return static_cast<Integer>(size);
}

Result<Value> default_value(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "default", {"default_value", "boolean"}));
  if (!value.is_undefined() && (!bound.truthy(1, false) || value.truthy())) return value;
  return bound.has(0) ? *bound[0] : runtime.string("");
}

Result<Value> first(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "first", {}));
  TRY_ASSIGN(Cursor cursor, Cursor::over(value));
  TRY_ASSIGN(std::optional<Value> item, cursor.next(runtime));
  return item ? *std::move(item) : runtime.undefined("No first item, sequence was empty.");
}

// The items in reverse; nothing for what can only be read forwards.
Result<std::optional<Collected>> reversed_items(Runtime& runtime, const Value& value) {
  if (!is_iterable(value) || (value.is(Kind::kObject) && value.object().is_iterator())) return std::nullopt;
  TRY_ASSIGN(Collected collected, collect(runtime, value));
  std::ranges::reverse(collected.items);
  return collected;
}

Result<Value> last(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "last", {}));
  if (value.is_string() && !value.text().empty()) {
    const Text& text = value.text();
    return runtime.string(text.slice(unicode::previous(text.view(), text.size()), text.size()));
  }
  if (value.is(Kind::kList) && !value.list().empty()) return value.list().back();
  TRY_ASSIGN(const auto reversed, reversed_items(runtime, value));
  if (!reversed) return fail(ErrorCode::kInvalidArgument, "'{}' object is not reversible", value.type_name());
  const auto& items = reversed->items;
  return items.empty() ? runtime.undefined("No last item, sequence was empty.") : items.front();
}

Result<Value> reverse(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "reverse", {}));
  if (value.is_string()) {
    std::string reversed;
    TRY(runtime.reserve(value.text().size()));
    reversed.reserve(value.text().size());
    for (size_t end = value.text().size(); end > 0;) {
      const size_t begin = unicode::previous(value.view(), end);
      reversed += value.view().substr(begin, end - begin);
      end = begin;
    }
    return runtime.string(value.text().derive(std::move(reversed)));
  }
  TRY_ASSIGN(auto reversed, reversed_items(runtime, value));
  if (reversed) return make_iterator(runtime, std::move(reversed->items), "list_reverseiterator");
  TRY_ASSIGN(Collected read, collect(runtime, value));
  std::ranges::reverse(read.items);
  return runtime.list(std::move(read.items));
}

Result<Value> list(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "list", {}));
  if (value.is(Kind::kList)) return value;
  TRY_ASSIGN(Collected collected, collect(runtime, value));
  return runtime.list(std::move(collected.items));
}

Result<Value> items(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "items", {}));
  std::vector<Value> pairs;
  std::optional<Error> failure;
  if (value.is(Kind::kDict)) {
    for (const auto& [key, item] : value.dict().entries()) {
      TRY_ASSIGN(Value pair, runtime.tuple({key, item}));
      TRY(runtime.push(pairs, std::move(pair)));
    }
  } else if (!value.is_undefined()) {
    failure = Error{ErrorCode::kInvalidArgument, "Can only get item pairs from a mapping."};
  }
  return make_iterator(runtime, std::move(pairs), "generator", std::move(failure));
}

struct Keyed {
  Value key, value;
};

// Room for so many, and for as many while they are sorted.
Result<Metered> make_room(Runtime& runtime, std::vector<Keyed>& keyed, size_t count) {
  TRY_ASSIGN(Metered held, runtime.hold(2 * count * sizeof(Keyed)));
  keyed.reserve(count);
  return held;
}

// Sorts by key; `backwards` keeps the order of equal keys, as Python does.
Status sort_keyed(Runtime& runtime, std::vector<Keyed>& keyed, bool backwards) {
  if (backwards) std::ranges::reverse(keyed);
  TRY(sort_values(runtime, keyed, [](const Keyed& k) -> const Value& { return k.key; }));
  if (backwards) std::ranges::reverse(keyed);
  return {};
}

Result<Value> list_of_values(Runtime& runtime, std::vector<Keyed> keyed) {
  std::vector<Value> values;
  TRY(runtime.reserve(keyed.size() * sizeof(Value)));
  values.reserve(keyed.size());
  for (Keyed& k : keyed) values.push_back(std::move(k.value));
  return runtime.list(std::move(values));
}

Result<Value> sort_dict(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "dictsort", {"case_sensitive", "by", "reverse"}));
  bool by_value = false;
  if (bound.has(1)) {
    TRY_ASSIGN(const Text* by, text_argument(*bound[1]));
    by_value = by->view() == "value";
    if (!by_value && by->view() != "key") {
      return fail(ErrorCode::kInvalidArgument, "You can only sort by either \"key\" or \"value\"");
    }
  }
  if (value.is_undefined()) return use_of_undefined(value);
  if (!value.is(Kind::kDict)) {
    return fail(ErrorCode::kInvalidArgument, "'{}' object has no attribute 'items'", value.type_name());
  }
  std::vector<Keyed> keyed;
  TRY_ASSIGN(const Metered held, make_room(runtime, keyed, value.dict().size()));
  for (const auto& [key, item] : value.dict().entries()) {
    TRY(runtime.step());
    TRY_ASSIGN(Value pair, runtime.tuple({key, item}));
    TRY_ASSIGN(Value folded, fold_case(runtime, by_value ? item : key, bound.truthy(0, false)));
    keyed.push_back({std::move(folded), std::move(pair)});
  }
  TRY(sort_keyed(runtime, keyed, bound.truthy(2, false)));
  return list_of_values(runtime, std::move(keyed));
}

// The list of keys for `attribute="a,b.c"`.
Result<Value> multiple_key(Runtime& runtime, const Value& item, const Value& attribute, bool case_sensitive) {
  std::vector<Value> keys;
  if (!attribute.is_string()) {
    TRY_ASSIGN(Value key, get_path(runtime, item, attribute));
    TRY_ASSIGN(key, fold_case(runtime, std::move(key), case_sensitive));
    keys.push_back(std::move(key));
    return runtime.list(std::move(keys));
  }
  const Text& text = attribute.text();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.view().find(',', begin), text.size());
    TRY_ASSIGN(Value key, get_path(runtime, item, runtime.string(text.slice(begin, end))));
    TRY_ASSIGN(key, fold_case(runtime, std::move(key), case_sensitive));
    TRY(runtime.push(keys, std::move(key)));
    begin = end + 1;
  }
  return runtime.list(std::move(keys));
}

Result<Value> sort(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "sort", {"reverse", "case_sensitive", "attribute"}));
  const Value attribute = bound.has(2) ? *bound[2] : Value(None{});
  TRY_ASSIGN(const Collected values, collect(runtime, value));
  std::vector<Keyed> keyed;
  TRY_ASSIGN(const Metered held, make_room(runtime, keyed, values.items.size()));
  for (const Value& item : values.items) {
    TRY_ASSIGN(Value key, multiple_key(runtime, item, attribute, bound.truthy(1, false)));
    keyed.push_back({std::move(key), item});
  }
  TRY(sort_keyed(runtime, keyed, bound.truthy(0, false)));
  return list_of_values(runtime, std::move(keyed));
}

Result<Value> single_key(Runtime& runtime, const Value& item, const Value* attribute, bool case_sensitive) {
  Value key = item;
  if (attribute != nullptr) {
    TRY_ASSIGN(key, get_path(runtime, item, *attribute));
  }
  return fold_case(runtime, std::move(key), case_sensitive);
}

Result<Value> unique(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "unique", {"case_sensitive", "attribute"}));
  const auto before = [](const Value& a, const Value& b) { return compare_keys(a, b) < 0; };
  std::set<Value, decltype(before)> seen(before);
  constexpr size_t kNodeBytes = sizeof(Value) + 3 * sizeof(void*) + Metered::kOverhead;
  Metered held(runtime.meter(), 0);
  std::vector<Value> kept;
  const auto run = [&]() -> Status {
    TRY_ASSIGN(Cursor cursor, Cursor::over(value));
    for (;;) {
      TRY_ASSIGN(const std::optional<Value> item, cursor.next(runtime));
      if (!item) return {};
      TRY_ASSIGN(Value key, single_key(runtime, *item, bound[1], bound.truthy(0, false)));
      if (!is_hashable(key))
        return fail(ErrorCode::kInvalidArgument, "unhashable type: '{}'", key.type_name());
      runtime.charge_bytes(key.weight());
      if (!seen.insert(std::move(key)).second) continue;
      held.recount(seen.size() * kNodeBytes);
      TRY(runtime.push(kept, *item));
    }
  };
  const Status status = run();
  std::optional<Error> failure;
  if (!status) failure = status.error();
  return make_iterator(runtime, std::move(kept), "generator", std::move(failure));
}

template <bool greatest>
Result<Value> extreme(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, greatest ? "max" : "min", {"case_sensitive", "attribute"}));
  TRY_ASSIGN(Cursor cursor, Cursor::over(value));
  std::optional<Keyed> best;
  for (;;) {
    TRY_ASSIGN(const std::optional<Value> item, cursor.next(runtime));
    if (!item) break;
    TRY_ASSIGN(Value key, single_key(runtime, *item, bound[1], bound.truthy(0, false)));
    bool better = !best.has_value();
    if (!better) {
      TRY_ASSIGN(better, greatest ? less(runtime, best->key, key) : less(runtime, key, best->key));
    }
    if (better) best = Keyed{std::move(key), *item};
  }
  return best ? std::move(best->value) : runtime.undefined("No aggregated item, sequence was empty.");
}

Result<Value> group_by(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "groupby", {"attribute", "default", "case_sensitive"}, 1));
  const bool case_sensitive = bound.truthy(2, false);
  const Value* otherwise = bound.is_set(1) ? bound[1] : nullptr;
  const auto plain_key = [&](const Value& item) { return get_path(runtime, item, *bound[0], otherwise); };
  TRY_ASSIGN(const Collected values, collect(runtime, value));
  std::vector<Keyed> keyed;
  TRY_ASSIGN(const Metered held, make_room(runtime, keyed, values.items.size()));
  for (const Value& item : values.items) {
    TRY_ASSIGN(Value key, plain_key(item));
    TRY_ASSIGN(key, fold_case(runtime, std::move(key), case_sensitive));
    keyed.push_back({std::move(key), item});
  }
  TRY(sort_keyed(runtime, keyed, false));
  std::vector<Value> groups;
  for (size_t begin = 0; begin < keyed.size();) {
    size_t end = begin;
    std::vector<Value> members;
    for (; end < keyed.size() && equals(keyed[end].key, keyed[begin].key); ++end) {
      TRY(runtime.step());
      TRY(runtime.push(members, keyed[end].value));
    }
    if (end == begin) members.push_back(keyed[end++].value);  // a key that does not equal itself
    TRY_ASSIGN(Value key, plain_key(members[0]));
    TRY_ASSIGN(Value member_list, runtime.list(std::move(members)));
    TRY_ASSIGN(Value group, runtime.group(std::move(key), std::move(member_list)));
    TRY(runtime.push(groups, std::move(group)));
    begin = end;
  }
  return runtime.list(std::move(groups));
}

Result<Value> sum(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "sum", {"attribute", "start"}));
  Value total = bound.has(1) ? *bound[1] : Value(Integer{0});
  if (total.is_string()) return fail(ErrorCode::kInvalidArgument, "sum() can't sum strings");
  TRY_ASSIGN(Cursor cursor, Cursor::over(value));
  for (;;) {
    TRY_ASSIGN(std::optional<Value> item, cursor.next(runtime));
    if (!item) return total;
    if (bound.is_set(0)) {
      TRY_ASSIGN(item, get_path(runtime, *item, *bound[0]));
    }
    TRY_ASSIGN(total, apply(runtime, BinaryOperator::kAdd, total, *item));
  }
}

Result<Value> batch(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "batch", {"linecount", "fill_with"}, 1));
  TRY_ASSIGN(const Integer size, integer_argument(*bound[0]));
  TRY_ASSIGN(const Collected values, collect(runtime, value));
  std::vector<Value> rows, row;
  for (const Value& item : values.items) {
    if (static_cast<Integer>(row.size()) == size) {
      TRY_ASSIGN(Value full, runtime.list(std::exchange(row, {})));
      TRY(runtime.push(rows, std::move(full)));
    }
    TRY(runtime.push(row, item));
  }
  if (!row.empty()) {
    const Integer missing = size - static_cast<Integer>(row.size());
    if (bound.is_set(1) && missing > 0) {
      const Integer capped = std::min(missing, Integer{limits::kMaxTemplateMemoryBytes});
      TRY(runtime.reserve((row.size() + static_cast<size_t>(capped)) * sizeof(Value)));
      row.reserve(row.size() + static_cast<size_t>(missing));
      row.insert(row.end(), static_cast<size_t>(missing), *bound[1]);
    }
    TRY_ASSIGN(Value rest, runtime.list(std::move(row)));
    TRY(runtime.push(rows, std::move(rest)));
  }
  return make_iterator(runtime, std::move(rows));
}

Result<Value> slice(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "slice", {"slices", "fill_with"}, 1));
  TRY_ASSIGN(const Integer count, integer_argument(*bound[0]));
  TRY_ASSIGN(const Collected collected, collect(runtime, value));
  const auto& values = collected.items;
  if (count == 0) return fail(ErrorCode::kInvalidArgument, "division by zero");
  if (count > Integer{limits::kMaxTemplateRange}) {
    return fail(ErrorCode::kInvalidArgument, "more than {} slices", limits::kMaxTemplateRange);
  }
  const auto slices = count < 0 ? 0 : static_cast<size_t>(count);
  std::vector<Value> columns;
  size_t begin = 0;
  for (size_t i = 0; i < slices; ++i) {
    TRY(runtime.step());
    const bool has_extra = i < values.size() % slices;
    const size_t size = values.size() / slices + (has_extra ? 1 : 0);
    TRY(runtime.reserve(2 * size * sizeof(Value)));
    std::vector<Value> column(values.begin() + static_cast<std::ptrdiff_t>(begin),
                              values.begin() + static_cast<std::ptrdiff_t>(begin + size));
    if (bound.is_set(1) && !has_extra) column.push_back(*bound[1]);
    TRY_ASSIGN(Value whole, runtime.list(std::move(column)));
    TRY(runtime.push(columns, std::move(whole)));
    begin += size;
  }
  return make_iterator(runtime, std::move(columns));
}

Result<Value> attribute(Runtime& runtime, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "attr", {"name"}, 1));
  TRY_ASSIGN(const Text* name, text_argument(*bound[0]));
  return get_plain_attribute(runtime, value, name->view());
}

constexpr FilterEntry kSequenceFilters[] = {
    {"attr", attribute},
    {"batch", batch},
    {"count", length},
    {"d", default_value},
    {"default", default_value},
    {"dictsort", sort_dict},
    {"first", first},
    {"groupby", group_by},
    {"items", items},
    {"last", last},
    {"length", length},
    {"list", list},
    {"max", extreme<true>},
    {"min", extreme<false>},
    {"reverse", reverse},
    {"slice", slice},
    {"sort", sort},
    {"sum", sum},
    {"unique", unique},
};

}  // namespace

std::span<const FilterEntry> sequence_filters() {
  return kSequenceFilters;
}

}  // namespace tempo9::chat::jinja
