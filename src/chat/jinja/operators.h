// Python's operators on values. A failure carries the message Python's exception would.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

enum class BinaryOperator { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };
enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };

Result<Value> apply(Runtime& runtime, BinaryOperator op, const Value& left, const Value& right);
Result<Value> negate(const Value& value);
Result<Value> plus(const Value& value);
Result<bool> compare(Runtime& runtime, Comparison comparison, const Value& left, const Value& right);

bool equals(const Value& left, const Value& right);
// left < right
Result<bool> less(Runtime& runtime, const Value& left, const Value& right);
Result<bool> contains(Runtime& runtime, const Value& container, const Value& item);

// The failure of using an undefined value.
tl::unexpected<Error> use_of_undefined(const Value& value);

// First occurrence of `needle` in `text` at or behind `from`; npos if there is none. Linear time.
size_t find_text(std::string_view text, std::string_view needle, size_t from);

// Stable sort by key(item), which gives a `const Value&`. Survives any order, also an inconsistent one.
template <class T, class Key>
Status sort_values(Runtime& runtime, std::vector<T>& values, Key key) {
  std::vector<T> merged(values.size());
  for (size_t width = 1; width < values.size(); width *= 2) {
    TRY(runtime.step());
    for (size_t begin = 0; begin < values.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, values.size());
      const size_t end = std::min(begin + 2 * width, values.size());
      size_t left = begin, right = middle;
      for (size_t out = begin; out < end; ++out) {
        bool take_right = left == middle;
        if (!take_right && right < end) {
          TRY_ASSIGN(take_right, less(runtime, key(values[right]), key(values[left])));
        }
        merged[out] = std::move(values[take_right ? right++ : left++]);
      }
    }
    values.swap(merged);
  }
  return {};
}

}  // namespace tempo9::chat::jinja
