#include "chat/jinja/operators.h"

#include <fmt/format.h>

#include <string.h>  // memmem: linear in the worst case, which std::string_view::find is not

#include <cmath>

#include "chat/jinja/format.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/markup.h"
#include "chat/jinja/number.h"

namespace tempo9::chat::jinja {
namespace {

constexpr std::string_view kOperatorNames[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};
constexpr std::string_view kComparisonNames[] = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"};

tl::unexpected<Error> unsupported(BinaryOperator op, const Value& left, const Value& right) {
  if (left.is_undefined()) return use_of_undefined(left);
  if (right.is_undefined()) return use_of_undefined(right);
  return fail(ErrorCode::kInvalidArgument, "unsupported operand type(s) for {}: '{}' and '{}'",
              kOperatorNames[static_cast<size_t>(op)], left.type_name(), right.type_name());
}

tl::unexpected<Error> overflow() {
  return fail(ErrorCode::kUnsupported, "a number of the template does not fit 128 bits");
}

tl::unexpected<Error> division_by_zero() {
  return fail(ErrorCode::kInvalidArgument, "division by zero");
}

Result<Value> power(Integer base, Integer exponent) {
  if (exponent < 0) {
    if (base == 0) return division_by_zero();
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
  Integer result = 1;
  if (exponent == 0 || base == 1) return result;
  if (base == 0) return base;
  if (base == -1) return exponent % 2 == 0 ? result : base;
  if (exponent > 127) return overflow();
  for (Integer i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return overflow();
  }
  return result;
}

Result<Value> apply_integers(BinaryOperator op, Integer left, Integer right) {
  Integer result = 0;
  switch (op) {
    case BinaryOperator::kAdd:
      if (__builtin_add_overflow(left, right, &result)) return overflow();
      return result;
    case BinaryOperator::kSubtract:
      if (__builtin_sub_overflow(left, right, &result)) return overflow();
      return result;
    case BinaryOperator::kMultiply:
      if (__builtin_mul_overflow(left, right, &result)) return overflow();
      return result;
    case BinaryOperator::kDivide:
      if (right == 0) return division_by_zero();
      return static_cast<double>(left) / static_cast<double>(right);
    case BinaryOperator::kFloorDivide:
    case BinaryOperator::kModulo: {
      if (right == 0) return division_by_zero();
      if (right == -1) {  // the one quotient that may not fit
        if (__builtin_sub_overflow(Integer{0}, left, &result)) return overflow();
        return op == BinaryOperator::kModulo ? Integer{0} : result;
      }
      const Integer quotient = left / right, rest = left % right;
      const bool round_down = rest != 0 && (rest < 0) != (right < 0);
      if (op == BinaryOperator::kModulo) return round_down ? rest + right : rest;
      return quotient - Integer{round_down};
    }
    case BinaryOperator::kPower:
      return power(left, right);
  }
  return result;
}

Result<Value> apply_floats(BinaryOperator op, double left, double right) {
  switch (op) {
    case BinaryOperator::kAdd:
      return left + right;
    case BinaryOperator::kSubtract:
      return left - right;
    case BinaryOperator::kMultiply:
      return left * right;
    case BinaryOperator::kDivide:
      if (right == 0) return division_by_zero();
      return left / right;
    case BinaryOperator::kFloorDivide:
    case BinaryOperator::kModulo: {
      if (right == 0) return division_by_zero();
      double rest = std::fmod(left, right);
      double quotient = (left - rest) / right;
      if (rest != 0 && (rest < 0) != (right < 0)) {
        rest += right;
        quotient -= 1;
      }
      if (op == BinaryOperator::kModulo) return rest == 0 ? std::copysign(0.0, right) : rest;
      const double floor = std::floor(quotient);
      return quotient - floor > 0.5 ? floor + 1 : floor;
    }
    case BinaryOperator::kPower: {
      if (left == 0 && right < 0) return division_by_zero();
      if (left < 0 && std::isfinite(right) && right != std::floor(right)) {
        return fail(ErrorCode::kUnsupported, "complex numbers are not supported");
      }
      const double result = std::pow(left, right);
      if (std::isinf(result) && std::isfinite(left) && std::isfinite(right)) {
        return fail(ErrorCode::kInvalidArgument, "Numerical result out of range");
      }
      return result;
    }
  }
  return left;
}

Result<Value> join_strings(Runtime& runtime, const Text& left, const Text& right) {
  const bool markup = left.is_markup() || right.is_markup();
  Text joined(runtime.meter());
  joined.reserve(left.size() + right.size());
  for (const Text* text : {&left, &right}) {
    if (markup)
      joined.append(escape_html(runtime, *text));
    else
      joined.append(*text);
  }
  joined.set_markup(markup);
  return runtime.string(std::move(joined));
}

Result<Value> join_items(Runtime& runtime, const Value& left, const Value& right) {
  TRY(runtime.reserve((left.items().size() + right.items().size()) * sizeof(Value)));
  std::vector<Value> items;
  items.reserve(left.items().size() + right.items().size());
  items.insert(items.end(), left.items().begin(), left.items().end());
  items.insert(items.end(), right.items().begin(), right.items().end());
  return left.is(Kind::kList) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

// sequence * times
Result<Value> repeat(Runtime& runtime, const Value& sequence, Integer times) {
  const bool text = sequence.is_string();
  const size_t unit = text ? sequence.text().size() : sequence.items().size() * sizeof(Value);
  if (times < 0 || unit == 0) times = 0;
  if (unit != 0 && times > Integer{limits::kMaxTemplateMemoryBytes / unit})
    times = limits::kMaxTemplateMemoryBytes / unit + 1;
  TRY(runtime.reserve(unit * static_cast<size_t>(times)));
  if (text) {
    Text repeated = sequence.text().repeat(static_cast<size_t>(times));
    repeated.set_markup(sequence.text().is_markup());
    return runtime.string(std::move(repeated));
  }
  std::vector<Value> items;
  items.reserve(sequence.items().size() * static_cast<size_t>(times));
  for (Integer i = 0; i < times; ++i) {
    items.insert(items.end(), sequence.items().begin(), sequence.items().end());
  }
  return sequence.is(Kind::kList) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

bool is_sequence(const Value& value) {
  return value.is_string() || value.is(Kind::kList) || value.is(Kind::kTuple);
}

bool equal_items(const std::vector<Value>& left, const std::vector<Value>& right) {
  return std::ranges::equal(left, right, equals);
}

bool equal_dicts(const Dict& left, const Dict& right) {
  if (left.size() != right.size()) return false;
  return std::ranges::all_of(left.entries(), [&right](const Dict::Entry& entry) {
    const Value* other = right.find(entry.first);
    return other != nullptr && equals(entry.second, *other);
  });
}

// Order of two values for <, <=, > and >=.
Result<std::partial_ordering> order(Comparison comparison, const Value& left, const Value& right) {
  if (is_number(left) && is_number(right)) return compare_numbers(left, right);
  if (left.kind() == right.kind() && is_sequence(left)) {
    if (left.is_string()) return left.view() <=> right.view();
    const auto &a = left.items(), &b = right.items();
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (!equals(a[i], b[i])) return order(comparison, a[i], b[i]);
    }
    return a.size() <=> b.size();
  }
  if (left.is_undefined()) return use_of_undefined(left);
  if (right.is_undefined()) return use_of_undefined(right);
  return fail(ErrorCode::kInvalidArgument, "'{}' not supported between instances of '{}' and '{}'",
              kComparisonNames[static_cast<size_t>(comparison)], left.type_name(), right.type_name());
}

}  // namespace

tl::unexpected<Error> use_of_undefined(const Value& value) {
  const std::string* reason = value.undefined_reason();
  return fail(ErrorCode::kInvalidArgument, "{}", reason == nullptr ? "undefined" : *reason);
}

Result<Value> apply(Runtime& runtime, BinaryOperator op, const Value& left, const Value& right) {
  if (is_integral(left) && is_integral(right)) {
    return apply_integers(op, as_integer(left), as_integer(right));
  }
  if (is_number(left) && is_number(right)) return apply_floats(op, as_double(left), as_double(right));
  if (op == BinaryOperator::kAdd && left.kind() == right.kind()) {
    if (left.is_string()) return join_strings(runtime, left.text(), right.text());
    if (is_sequence(left)) return join_items(runtime, left, right);
  }
  if (op == BinaryOperator::kMultiply) {
    if (is_sequence(left) && is_integral(right)) return repeat(runtime, left, as_integer(right));
    if (is_sequence(right) && is_integral(left)) return repeat(runtime, right, as_integer(left));
  }
  if (op == BinaryOperator::kModulo && left.is_string() && !right.is_undefined()) {
    TRY_ASSIGN(Text text, format_percent(runtime, left.text(), right));
    return runtime.string(std::move(text));
  }
  return unsupported(op, left, right);
}

Result<Value> negate(const Value& value) {
  if (value.is(Kind::kFloat)) return -value.number();
  if (is_integral(value)) return apply_integers(BinaryOperator::kSubtract, 0, as_integer(value));
  if (value.is_undefined()) return use_of_undefined(value);
  return fail(ErrorCode::kInvalidArgument, "bad operand type for unary -: '{}'", value.type_name());
}

Result<Value> plus(const Value& value) {
  if (value.is(Kind::kFloat)) return value;
  if (is_integral(value)) return as_integer(value);
  if (value.is_undefined()) return use_of_undefined(value);
  return fail(ErrorCode::kInvalidArgument, "bad operand type for unary +: '{}'", value.type_name());
}

bool equals(const Value& left, const Value& right) {
  if (is_number(left) && is_number(right)) return compare_numbers(left, right) == 0;
  if (left.kind() != right.kind()) return false;
  switch (left.kind()) {
    case Kind::kString:
      return left.view() == right.view();
    case Kind::kList:
    case Kind::kTuple:
      return equal_items(left.items(), right.items());
    case Kind::kDict:
      return equal_dicts(left.dict(), right.dict());
    case Kind::kObject:
      return left.object().equals(right.object());
    default:
      return true;  // None and undefined values equal their like
  }
}

Result<bool> less(Runtime& runtime, const Value& left, const Value& right) {
  return compare(runtime, Comparison::kLess, left, right);
}

Result<bool> compare(Runtime& runtime, Comparison comparison, const Value& left, const Value& right) {
  runtime.charge_bytes(std::min(left.weight(), right.weight()));
  switch (comparison) {
    case Comparison::kEqual:
      return equals(left, right);
    case Comparison::kNotEqual:
      return !equals(left, right);
    case Comparison::kIn:
      return contains(runtime, right, left);
    case Comparison::kNotIn: {
      TRY_ASSIGN(const bool found, contains(runtime, right, left));
      return !found;
    }
    default:
      break;
  }
  TRY_ASSIGN(const std::partial_ordering result, order(comparison, left, right));
  switch (comparison) {
    case Comparison::kLess:
      return result < 0;
    case Comparison::kLessEqual:
      return result <= 0;
    case Comparison::kGreater:
      return result > 0;
    default:
      return result >= 0;
  }
}

Result<bool> contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) {
      return fail(ErrorCode::kInvalidArgument, "'in <string>' requires string as left operand, not {}",
                  item.type_name());
    }
    runtime.charge_bytes(container.text().size());
    return find_text(container.view(), item.view(), 0) != std::string_view::npos;
  }
  if (container.is(Kind::kDict)) {
    if (!is_hashable(item)) {
      return fail(ErrorCode::kInvalidArgument, "unhashable type: '{}'", item.type_name());
    }
    return container.dict().find(item) != nullptr;
  }
  if (!is_iterable(container)) {
    return fail(ErrorCode::kInvalidArgument, "argument of type '{}' is not iterable", container.type_name());
  }
  TRY_ASSIGN(Cursor cursor, Cursor::over(container));
  for (;;) {
    TRY_ASSIGN(const std::optional<Value> candidate, cursor.next(runtime));
    if (!candidate) return false;
    runtime.charge_bytes(std::min(candidate->weight(), item.weight()));
    if (candidate->is_same(item) || equals(*candidate, item)) return true;
  }
}

size_t find_text(std::string_view text, std::string_view needle, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  const void* found = ::memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace tempo9::chat::jinja
