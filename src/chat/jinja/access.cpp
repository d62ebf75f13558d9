#include "chat/jinja/access.h"

#include <fmt/format.h>

#include <algorithm>

#include "chat/jinja/bind.h"
#include "chat/jinja/builtins.h"
#include "chat/jinja/methods.h"
#include "chat/jinja/number.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

std::string describe(const Value& value) {
  if (value.is_none()) return "None";
  return fmt::format("{} object", value.type_name());
}

Value no_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  return runtime.undefined(fmt::format("'{}' has no attribute {}", describe(value), quote(name)));
}

Value unsafe_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  return runtime.undefined(
      fmt::format("access to attribute {} of '{}' object is unsafe", quote(name), value.type_name()));
}

// A method or attribute; nothing if the value has none of that name.
Result<std::optional<Value>> find_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  if (value.is(Kind::kObject)) return value.object().attribute(runtime, name);
  if (value.is(Kind::kTuple) && value.tuple().is_group) {
    if (name == "grouper") return value.tuple().items[0];
    if (name == "list") return value.tuple().items[1];
  }
  const Method* method = find_method(value, name);
  if (method == nullptr) return std::nullopt;
  if (method->function == nullptr) return unsafe_attribute(runtime, value, name);
  return bind_method(runtime, value, *method);
}

// The item, or nothing if the key is of the wrong kind, out of range or absent.
Result<std::optional<Value>> find_item(Runtime& runtime, const Value& value, const Value& key) {
  if (value.is(Kind::kDict)) {
    runtime.charge_bytes(key.weight());
    const Value* found = is_hashable(key) ? value.dict().find(key) : nullptr;
    if (found == nullptr) return std::nullopt;
    return *found;
  }
  if (!is_integral(key)) return std::nullopt;
  Integer index = as_integer(key);
  if (value.is_string()) {
    const Text& text = value.text();
    runtime.charge_bytes(text.size());
    const auto size = static_cast<Integer>(unicode::count(text.view()));
    if (index < 0) index += size;
    if (index < 0 || index >= size) return std::nullopt;
    const size_t begin = unicode::offset(text.view(), static_cast<size_t>(index));
    return runtime.string(text.slice(begin, begin + unicode::decode(text.view(), begin).length));
  }
  const bool sequence = value.is(Kind::kList) || value.is(Kind::kTuple);
  const bool indexable = value.is(Kind::kObject) && value.object().is_indexable();
  if (!sequence && !indexable) return std::nullopt;
  const auto size = static_cast<Integer>(sequence ? value.items().size() : value.object().size().value_or(0));
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  if (sequence) return value.items()[static_cast<size_t>(index)];
  return value.object().at(runtime, static_cast<size_t>(index));
}

struct SliceBounds {
  Integer start, step;
  size_t count;
};

// Far beyond any size, far from any overflow.
constexpr Integer kMaxStep = Integer{1} << 62;

Result<SliceBounds> adjust_slice(Integer size, const Value& start, const Value& stop, const Value& step) {
  const auto read = [](const Value& bound, Integer otherwise) -> Result<Integer> {
    if (bound.is_none()) return otherwise;
    if (is_integral(bound)) return as_integer(bound);
    return fail(ErrorCode::kInvalidArgument,
                "slice indices must be integers or None or have an __index__ method");
  };
  TRY_ASSIGN(Integer by, read(step, 1));
  if (by == 0) return fail(ErrorCode::kInvalidArgument, "slice step cannot be zero");
  by = std::clamp(by, -kMaxStep, kMaxStep);
  const Integer lowest = by > 0 ? 0 : -1, highest = by > 0 ? size : size - 1;
  const auto clamp = [&](Integer index) {
    if (index < 0) index = index < -size ? Integer{-1} : index + size;
    return std::clamp(index, lowest, std::max(lowest, highest));
  };
  TRY_ASSIGN(const Integer from, read(start, by > 0 ? lowest : highest));
  TRY_ASSIGN(const Integer to, read(stop, by > 0 ? highest : lowest));
  const Integer begin = start.is_none() ? from : clamp(from), end = stop.is_none() ? to : clamp(to);
  Integer count = 0;
  if (by > 0 && begin < end) count = (end - begin - 1) / by + 1;
  if (by < 0 && begin > end) count = (begin - end - 1) / -by + 1;
  return SliceBounds{begin, by, static_cast<size_t>(count)};
}

Result<Value> slice_text(Runtime& runtime, const Text& text, const SliceBounds& bounds) {
  if (bounds.count == 0) return runtime.string(text.slice(0, 0));
  const auto start = static_cast<size_t>(bounds.start);
  if (bounds.step == 1) {
    const size_t begin = unicode::offset(text.view(), start);
    const size_t size = unicode::offset(text.view().substr(begin), bounds.count);
    return runtime.string(text.slice(begin, begin + size));
  }
  std::vector<size_t> offsets;  // of each character, and the end
  const size_t count = unicode::count(text.view()) + 1;
  TRY_ASSIGN(const Metered held, runtime.hold(count * sizeof(size_t)));
  offsets.reserve(count);
  for (size_t at = 0; at < text.size(); at += unicode::decode(text.view(), at).length) offsets.push_back(at);
  offsets.push_back(text.size());
  runtime.charge(offsets.size());
  Text picked(runtime.meter());
  Integer index = bounds.start;
  for (size_t i = 0; i < bounds.count; ++i, index += bounds.step) {
    const auto at = static_cast<size_t>(index);
    picked.append(text, offsets[at], offsets[at + 1]);
  }
  picked.set_markup(text.is_markup());
  return runtime.string(std::move(picked));
}

}  // namespace

Result<Value> get_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  if (value.is_undefined()) return use_of_undefined(value);
  TRY_ASSIGN(std::optional<Value> attribute, find_attribute(runtime, value, name));
  if (attribute) return *std::move(attribute);
  if (value.is(Kind::kDict)) {
    if (const Value* item = value.dict().find(name)) return *item;
  }
  return no_attribute(runtime, value, name);
}

Result<Value> get_plain_attribute(Runtime& runtime, const Value& value, std::string_view name) {
  if (value.is_undefined()) return use_of_undefined(value);
  TRY_ASSIGN(std::optional<Value> attribute, find_attribute(runtime, value, name));
  return attribute ? *std::move(attribute) : no_attribute(runtime, value, name);
}

Result<Value> get_item(Runtime& runtime, const Value& value, const Value& key) {
  if (value.is_undefined()) return use_of_undefined(value);
  TRY_ASSIGN(std::optional<Value> item, find_item(runtime, value, key));
  if (item) return *std::move(item);
  if (key.is_string()) {
    TRY_ASSIGN(std::optional<Value> attribute, find_attribute(runtime, value, key.view()));
    if (attribute) return *std::move(attribute);
    return no_attribute(runtime, value, key.view());
  }
  return runtime.undefined(fmt::format("{} has no such element", describe(value)));
}

Result<Value> get_slice(Runtime& runtime, const Value& value, const Value& start, const Value& stop,
                        const Value& step) {
  if (value.is_undefined()) return use_of_undefined(value);
  if (value.is_string()) {
    runtime.charge_bytes(value.text().size());
    const auto size = static_cast<Integer>(unicode::count(value.view()));
    TRY_ASSIGN(const SliceBounds bounds, adjust_slice(size, start, stop, step));
    return slice_text(runtime, value.text(), bounds);
  }
  const bool sequence = value.is(Kind::kList) || value.is(Kind::kTuple);
  if (!sequence && !(value.is(Kind::kObject) && value.object().is_indexable())) {
    return fail(ErrorCode::kInvalidArgument, "'{}' object cannot be sliced", value.type_name());
  }
  const size_t size = sequence ? value.items().size() : value.object().size().value_or(0);
  TRY_ASSIGN(const SliceBounds bounds, adjust_slice(static_cast<Integer>(size), start, stop, step));
  if (!sequence) return slice_range(runtime, value, bounds.start, bounds.step, bounds.count);
  std::vector<Value> items;
  TRY(runtime.reserve(bounds.count * sizeof(Value)));
  items.reserve(bounds.count);
  Integer index = bounds.start;
  for (size_t i = 0; i < bounds.count; ++i, index += bounds.step) {
    items.push_back(value.items()[static_cast<size_t>(index)]);
  }
  return value.is(Kind::kList) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

Result<Value> get_path(Runtime& runtime, Value value, const Value& path, const Value* otherwise) {
  if (path.is_none()) return value;
  const auto step_into = [&](const Value& key) -> Status {
    TRY_ASSIGN(value, get_item(runtime, value, key));
    if (otherwise != nullptr && value.is_undefined()) value = *otherwise;
    return runtime.step();
  };
  if (!path.is_string()) {
    TRY(step_into(path));
    return value;
  }
  const Text& text = path.text();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.view().find('.', begin), text.size());
    const std::string_view part = text.view().substr(begin, end - begin);
    bool overflow = false;
    const bool digits = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    const std::optional<Integer> index = digits ? parse_integer(part, 10, overflow) : std::nullopt;
    TRY(step_into(index ? Value(*index) : runtime.string(text.slice(begin, end))));
    begin = end + 1;
  }
  return value;
}

}  // namespace tempo9::chat::jinja
