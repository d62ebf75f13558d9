// Values of a running template, as Python would hold them. Immutable but for namespaces and iterators.
// A value is cheap to copy: containers and strings are shared. Constants of a parsed template are shared
// between threads; everything else belongs to one rendering.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "chat/jinja/meter.h"
#include "chat/jinja/text.h"

namespace tempo9::chat::jinja {

// Python's integers are unbounded; ours hold 128 bits, and what does not fit is refused by name.
using Integer = __int128;

class Value;
struct Reason;
struct String;
struct List;
struct Tuple;
class Dict;
class Object;

using StringRef = std::shared_ptr<const String>;
using ListRef = std::shared_ptr<const List>;
using TupleRef = std::shared_ptr<const Tuple>;
using DictRef = std::shared_ptr<const Dict>;
using ObjectRef = std::shared_ptr<Object>;

struct None {};
// What an absent variable, key or attribute gives. `reason` is the message of the error that any use but
// printing, iterating and testing raises; null marks a variable that was never assigned.
struct Undefined {
  std::shared_ptr<const Reason> reason;
};

// In the order of Value's alternatives.
enum class Kind { kUndefined, kNone, kBool, kInteger, kFloat, kString, kList, kTuple, kDict, kObject };

class Value {
 public:
  Value() = default;
  Value(None none) : data_(none) {}
  Value(Undefined undefined) : data_(std::move(undefined)) {}
  Value(bool value) : data_(value) {}
  Value(Integer value) : data_(value) {}
  Value(double value) : data_(value) {}
  Value(StringRef value) : data_(std::move(value)) {}
  Value(ListRef value) : data_(std::move(value)) {}
  Value(TupleRef value) : data_(std::move(value)) {}
  Value(DictRef value) : data_(std::move(value)) {}
  Value(ObjectRef value) : data_(std::move(value)) {}
  // No silent conversion of pointers and small integers to bool.
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_pointer_v<T> Value(T)
  = delete;

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_undefined() const { return is(Kind::kUndefined); }
  bool is_none() const { return is(Kind::kNone); }
  bool is_string() const { return is(Kind::kString); }
  // Not an assigned value at all, not even an undefined one.
  bool is_missing() const { return is_undefined() && undefined_reason() == nullptr; }

  // Each requires its kind.
  bool boolean() const { return std::get<bool>(data_); }
  Integer integer() const { return std::get<Integer>(data_); }
  double number() const { return std::get<double>(data_); }
  const Text& text() const;
  std::string_view view() const { return text().view(); }
  const std::vector<Value>& list() const;
  const Tuple& tuple() const;
  const Dict& dict() const;
  const DictRef& dict_ref() const { return std::get<DictRef>(data_); }
  Object& object() const { return *std::get<ObjectRef>(data_); }
  const std::string* undefined_reason() const;
  // Items of a list or tuple.
  const std::vector<Value>& items() const;

  bool truthy() const;
  // As Python names it: "str", "NoneType", "dict".
  std::string_view type_name() const;
  // Python's `is`.
  bool is_same(const Value& other) const;
  // Bytes this value stands for if everything it refers to is counted as often as it is referred to. Bounded
  // for every value, so one pass over a value always ends soon.
  size_t weight() const;
  // Levels of containers within each other; 0 for a scalar.
  int depth() const;

 private:
  std::variant<Undefined, None, bool, Integer, double, StringRef, ListRef, TupleRef, DictRef, ObjectRef>
      data_;
};

struct Reason : Metered {
  Reason(Meter* meter, std::string value)
      : Metered(meter, value.capacity() + sizeof(Reason) + kOverhead), text(std::move(value)) {}
  const std::string text;
};

struct String : Metered {
  String(Meter* meter, Text value)
      : Metered(meter, sizeof(String) + kOverhead), text(std::move(value).counted_by(meter)) {}
  const Text text;
};

// What lists and tuples have in common.
struct Items {
  explicit Items(std::vector<Value> values);
  const std::vector<Value> items;
  size_t weight;
  int depth;
};

struct List : Metered, Items {
  List(Meter* meter, std::vector<Value> values)
      : Metered(meter, values.capacity() * sizeof(Value) + sizeof(List) + kOverhead),
        Items(std::move(values)) {}
};

struct Tuple : Metered, Items {
  Tuple(Meter* meter, std::vector<Value> values, bool group = false)
      : Metered(meter, values.capacity() * sizeof(Value) + sizeof(Tuple) + kOverhead),
        Items(std::move(values)),
        is_group(group) {}
  const bool is_group;  // of `groupby`: its two items also answer to `grouper` and `list`
};

// Keys keep the order in which they were first written.
class Dict : Metered {
 public:
  using Entry = std::pair<Value, Value>;
  // Of equal keys the first keeps its place and the last gives the value. Keys must be hashable.
  Dict(Meter* meter, std::vector<Entry> entries);

  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  // Null if there is none. The key must be hashable.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  size_t weight() const { return weight_; }
  int depth() const { return depth_; }

 private:
  void index_and_merge();
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_key_;  // ascending by compare_keys
  size_t weight_;
  int depth_;
};

bool is_hashable(const Value& value);
// A total order of hashable values in which those that Python holds equal are equal: 1, 1.0 and True.
int compare_keys(const Value& left, const Value& right);

class Runtime;

// Arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
  Metered held = {};  // what the two take up, where they wait for a call of the template's own to end

  void recount(Meter* meter);
};

// Whatever has identity: namespaces, loops, macros, bound methods, ranges, views, iterators.
class Object : protected Metered {
 public:
  Object(Meter* meter, size_t bytes) : Metered(meter, bytes + kOverhead) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual std::string_view type_name() const = 0;
  virtual Status append_repr(Runtime& runtime, Text& out) const;
  virtual bool truthy() const { return true; }
  // Items, for those that know their number; it does not change.
  virtual std::optional<size_t> size() const { return std::nullopt; }
  virtual Value at(Runtime& runtime, size_t index) const;
  // Items of those that are used up by reading. Null at the end.
  virtual bool is_iterator() const { return false; }
  virtual Result<std::optional<Value>> next(Runtime& runtime);
  virtual bool is_indexable() const { return false; }
  virtual Result<std::optional<Value>> attribute(Runtime& runtime, std::string_view name);
  virtual bool is_callable() const { return false; }
  virtual Result<Value> call(Runtime& runtime, const Arguments& arguments);
  virtual bool equals(const Object& other) const { return this == &other; }
  virtual size_t weight() const { return sizeof(Value); }
  virtual int depth() const { return 1; }
};

// Constants, counted by nobody.
Value make_constant(Text text);
Value make_constant(std::vector<Value> items);

}  // namespace tempo9::chat::jinja
