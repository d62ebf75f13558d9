#include "chat/jinja/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "chat/jinja/number.h"
#include "chat/jinja/runtime.h"

namespace tempo9::chat::jinja {
namespace {

// Dicts up to this size are searched entry by entry.
constexpr size_t kSmallDict = 12;

size_t add_capped(size_t a, size_t b) {
  return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

int key_rank(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
      return 0;
    case Kind::kBool:
    case Kind::kInteger:
    case Kind::kFloat:
      return 1;
    case Kind::kString:
      return 2;
    case Kind::kTuple:
      return 3;
    case Kind::kObject:
      return 4;
    default:
      return 5;
  }
}

int compare_number_keys(const Value& left, const Value& right) {
  const auto order = compare_numbers(left, right);
  if (order == std::partial_ordering::unordered) {  // not-a-number sorts behind all numbers
    const auto is_nan = [](const Value& v) { return v.is(Kind::kFloat) && v.number() != v.number(); };
    return static_cast<int>(is_nan(left)) - static_cast<int>(is_nan(right));
  }
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace

const std::string* Value::undefined_reason() const {
  const auto& reason = std::get<Undefined>(data_).reason;
  return reason == nullptr ? nullptr : &reason->text;
}
const Text& Value::text() const {
  return std::get<StringRef>(data_)->text;
}
const std::vector<Value>& Value::list() const {
  return std::get<ListRef>(data_)->items;
}
const Tuple& Value::tuple() const {
  return *std::get<TupleRef>(data_);
}
const Dict& Value::dict() const {
  return *std::get<DictRef>(data_);
}
const std::vector<Value>& Value::items() const {
  return is(Kind::kList) ? list() : tuple().items;
}

bool Value::truthy() const {
  switch (kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
      return boolean();
    case Kind::kInteger:
      return integer() != 0;
    case Kind::kFloat:
      return number() != 0;
    case Kind::kString:
      return !text().empty();
    case Kind::kList:
    case Kind::kTuple:
      return !items().empty();
    case Kind::kDict:
      return dict().size() != 0;
    case Kind::kObject:
      return object().truthy();
  }
  return false;
}

std::string_view Value::type_name() const {
  static constexpr std::string_view kNames[] = {"Undefined", "NoneType", "bool",  "int",  "float",
                                                "str",       "list",     "tuple", "dict", ""};
  if (is_string() && text().is_markup()) return "Markup";
  if (is(Kind::kObject)) return object().type_name();
  return kNames[data_.index()];
}

bool Value::is_same(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::kUndefined:
      return std::get<Undefined>(data_).reason == std::get<Undefined>(other.data_).reason;
    case Kind::kNone:
      return true;
    case Kind::kBool:
      return boolean() == other.boolean();
    case Kind::kInteger:
      return integer() == other.integer();
    case Kind::kFloat:
      return number() == other.number();
    case Kind::kString:
      return &text() == &other.text() || text().view() == other.text().view();
    case Kind::kList:
      return &list() == &other.list();
    case Kind::kTuple:
      return &tuple() == &other.tuple();
    case Kind::kDict:
      return &dict() == &other.dict();
    case Kind::kObject:
      return &object() == &other.object();
  }
  return false;
}

size_t Value::weight() const {
  switch (kind()) {
    case Kind::kString:
      return text().size() + sizeof(Value);
    case Kind::kList:
      return std::get<ListRef>(data_)->weight;
    case Kind::kTuple:
      return tuple().weight;
    case Kind::kDict:
      return dict().weight();
    case Kind::kObject:
      return object().weight();
    default:
      return sizeof(Value);
  }
}

int Value::depth() const {
  switch (kind()) {
    case Kind::kList:
      return std::get<ListRef>(data_)->depth;
    case Kind::kTuple:
      return tuple().depth;
    case Kind::kDict:
      return dict().depth();
    case Kind::kObject:
      return object().depth();
    default:
      return 0;
  }
}

Items::Items(std::vector<Value> values) : items(std::move(values)), weight(sizeof(Value)), depth(1) {
  for (const Value& item : items) {
    weight = add_capped(weight, item.weight());
    depth = std::max(depth, item.depth() + 1);
  }
}

Dict::Dict(Meter* meter, std::vector<Entry> entries)
    : Metered(meter, entries.capacity() * (sizeof(Entry) + sizeof(uint32_t)) + sizeof(Dict) + kOverhead),
      entries_(std::move(entries)),
      weight_(sizeof(Value)),
      depth_(1) {
  index_and_merge();
  for (const auto& [key, value] : entries_) {
    weight_ = add_capped(weight_, add_capped(key.weight(), value.weight()));
    depth_ = std::max({depth_, key.depth() + 1, value.depth() + 1});
  }
}

void Dict::index_and_merge() {
  std::vector<uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto compare = [this](uint32_t a, uint32_t b) {
    return compare_keys(entries_[a].first, entries_[b].first);
  };
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return compare(a, b) < 0; });
  std::vector<bool> dropped(entries_.size());
  bool any_dropped = false;
  for (size_t i = 0, first = 0; i < order.size(); ++i) {
    if (i == 0 || compare(order[first], order[i]) != 0) {
      first = i;
      continue;
    }
    entries_[order[first]].second = entries_[order[i]].second;
    dropped[order[i]] = any_dropped = true;
  }
  if (any_dropped) {
    size_t index = 0;
    std::erase_if(entries_, [&](const Entry&) { return dropped[index++]; });
    return index_and_merge();  // once: no key is left twice
  }
  if (entries_.size() > kSmallDict) by_key_ = std::move(order);
}

const Value* Dict::find(const Value& key) const {
  if (key.is_string()) return find(key.view());
  if (by_key_.empty()) {
    const auto found = std::ranges::find_if(
        entries_, [&](const Entry& entry) { return compare_keys(entry.first, key) == 0; });
    return found == entries_.end() ? nullptr : &found->second;
  }
  const auto found = std::ranges::partition_point(
      by_key_, [&](uint32_t i) { return compare_keys(entries_[i].first, key) < 0; });
  if (found == by_key_.end() || compare_keys(entries_[*found].first, key) != 0) return nullptr;
  return &entries_[*found].second;
}

const Value* Dict::find(std::string_view key) const {
  if (by_key_.empty()) {
    for (const auto& [name, value] : entries_) {
      if (name.is_string() && name.view() == key) return &value;
    }
    return nullptr;
  }
  const auto found = std::ranges::partition_point(by_key_, [&](uint32_t i) {
    const Value& name = entries_[i].first;
    const int rank = key_rank(name);
    return rank < 2 || (rank == 2 && name.view() < key);
  });
  if (found == by_key_.end()) return nullptr;
  const auto& [name, value] = entries_[*found];
  return name.is_string() && name.view() == key ? &value : nullptr;
}

bool is_hashable(const Value& value) {
  if (value.is(Kind::kTuple)) return std::ranges::all_of(value.tuple().items, is_hashable);
  return !value.is(Kind::kList) && !value.is(Kind::kDict);
}

int compare_keys(const Value& left, const Value& right) {
  const int rank = key_rank(left);
  if (const int difference = rank - key_rank(right); difference != 0) return difference;
  switch (rank) {
    case 1:
      return compare_number_keys(left, right);
    case 2:
      return left.view().compare(right.view());
    case 3: {
      const auto &a = left.tuple().items, &b = right.tuple().items;
      for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (const int order = compare_keys(a[i], b[i]); order != 0) return order;
      }
      return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
    }
    case 4: {
      const std::less<const Object*> less;
      const Object *a = &left.object(), *b = &right.object();
      return less(a, b) ? -1 : less(b, a) ? 1 : 0;
    }
    default:
      return 0;
  }
}

void Arguments::recount(Meter* meter) {
  size_t bytes = positional.capacity() * sizeof(Value) + named.capacity() * sizeof(named[0]);
  for (const auto& [name, value] : named) bytes += name.capacity();
  held = Metered(meter, bytes);
}

Status Object::append_repr(Runtime&, Text& out) const {
  out.append(fmt::format("<{} object>", type_name()));
  return {};
}

Value Object::at(Runtime&, size_t) const {
  return {};
}

Result<std::optional<Value>> Object::next(Runtime&) {
  return std::nullopt;
}

Result<std::optional<Value>> Object::attribute(Runtime&, std::string_view) {
  return std::nullopt;
}

Result<Value> Object::call(Runtime&, const Arguments&) {
  return fail(ErrorCode::kInvalidArgument, "'{}' object is not callable", type_name());
}

Value make_constant(Text text) {
  return StringRef(std::make_shared<const String>(nullptr, std::move(text)));
}

Value make_constant(std::vector<Value> items) {
  return TupleRef(std::make_shared<const Tuple>(nullptr, std::move(items)));
}

}  // namespace tempo9::chat::jinja
