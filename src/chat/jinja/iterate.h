// Walking over whatever Python can iterate: strings by character, dicts by key, lists, tuples, ranges, views
// and iterators.
#pragma once
#include <optional>
#include <vector>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

bool is_iterable(const Value& value);
// Python's len(); fails for what has none.
Result<size_t> length_of(const Value& value);

class Cursor {
 public:
  // Fails if the value cannot be iterated.
  static Result<Cursor> over(Value iterable);
  // Null at the end. Each item is a step.
  Result<std::optional<Value>> next(Runtime& runtime);

 private:
  explicit Cursor(Value iterable) : iterable_(std::move(iterable)) {}
  Value iterable_;
  size_t at_ = 0;  // an index; in a string a byte
};

// All items. An iterator is used up.
struct Collected {
  std::vector<Value> items;
  Metered held;  // what the vector takes up
};
Result<Collected> collect(Runtime& runtime, const Value& iterable);

// Items computed beforehand and read once, as Python's generators are: what went wrong while computing is
// reported only to a reader that gets there.
class Iterator : public Object {
 public:
  Iterator(Meter* meter, std::vector<Value> items, std::string_view type_name = "generator",
           std::optional<Error> failure = std::nullopt);
  std::string_view type_name() const override { return type_name_; }
  bool is_iterator() const override { return true; }
  Result<std::optional<Value>> next(Runtime& runtime) override;
  size_t weight() const override { return items_.weight; }
  int depth() const override { return items_.depth; }

 private:
  List items_;
  std::string_view type_name_;
  std::optional<Error> failure_;
  size_t at_ = 0;
};
Value make_iterator(Runtime& runtime, std::vector<Value> items, std::string_view type_name = "generator",
                    std::optional<Error> failure = std::nullopt);

}  // namespace tempo9::chat::jinja
