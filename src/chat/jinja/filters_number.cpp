// Filters that make numbers.
#include <cmath>

#include "chat/jinja/bind.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/number.h"
#include "chat/jinja/operators.h"

namespace tempo9::chat::jinja {
namespace {

tl::unexpected<Error> too_large() {
  return fail(ErrorCode::kUnsupported, "a number of the template does not fit 128 bits");
}

Result<Value> absolute(Runtime&, const Value& value, const Arguments& arguments) {
  TRY(bind(arguments, "abs", {}));
  if (value.is(Kind::kFloat)) return std::fabs(value.number());
  if (is_integral(value)) return as_integer(value) < 0 ? negate(value) : plus(value);
  if (value.is_undefined()) return use_of_undefined(value);
  return fail(ErrorCode::kInvalidArgument, "bad operand type for abs(): '{}'", value.type_name());
}

Result<Value> to_float(Runtime&, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "float", {"default"}));
  if (value.is_undefined()) return use_of_undefined(value);
  if (is_number(value)) return as_double(value);
  if (value.is_string()) {
    if (const std::optional<double> number = parse_float(value.view())) return *number;
  }
  return bound.has(0) ? *bound[0] : Value(0.0);
}

Result<Value> to_integer(Runtime&, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "int", {"default", "base"}));
  if (value.is_undefined()) return use_of_undefined(value);
  if (is_integral(value)) return as_integer(value);
  const Value otherwise = bound.has(0) ? *bound[0] : Value(Integer{0});
  std::optional<double> number;
  if (value.is(Kind::kFloat)) {
    if (std::isinf(value.number())) {
      return fail(ErrorCode::kInvalidArgument, "cannot convert float infinity to integer");
    }
    number = value.number();
  } else if (value.is_string()) {
    Integer base = 10;
    if (bound.has(1)) {
      TRY_ASSIGN(base, integer_argument(*bound[1]));
    }
    bool overflow = false;
    const bool valid_base = base == 0 || (base >= 2 && base <= 36);
    if (valid_base) {
      if (const auto integer = parse_integer(value.view(), static_cast<int>(base), overflow)) return *integer;
    }
    if (overflow) return too_large();
    number = parse_float(value.view());  // "42.7" is 42
  }
  if (!number || !std::isfinite(*number)) return otherwise;
  const std::optional<Integer> whole = truncate(*number);
  if (!whole) return too_large();
  return *whole;
}

// round() of an integer to tens, hundreds, …: half to even.
Result<Value> round_integer(Integer value, Integer precision) {
  if (precision >= 0) return value;
  if (precision < -38) return Integer{0};
  Integer scale = 1;
  for (; precision < 0; ++precision) scale *= 10;
  Integer rest = value % scale;
  if (rest < 0) rest += scale;
  const Integer down = value - rest;
  const Integer half = scale / 2;
  const bool odd = (down / scale) % 2 != 0;
  Integer result = down;
  if (rest > half || (rest == half && odd)) {
    if (__builtin_add_overflow(down, scale, &result)) return too_large();
  }
  return result;
}

Result<Value> round_number(Runtime&, const Value& value, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "round", {"precision", "method"}));
  Integer precision = 0;
  if (bound.has(0)) {
    TRY_ASSIGN(precision, integer_argument(*bound[0]));
  }
  std::string_view method = "common";
  if (bound.has(1)) {
    TRY_ASSIGN(const Text* name, text_argument(*bound[1]));
    method = name->view();
  }
  if (method != "common" && method != "ceil" && method != "floor") {
    return fail(ErrorCode::kInvalidArgument, "method must be common, ceil or floor");
  }
  if (value.is_undefined()) return use_of_undefined(value);
  if (!is_number(value)) {
    return fail(ErrorCode::kInvalidArgument, "type {} doesn't define __round__ method", value.type_name());
  }
  if (method == "common") {
    if (is_integral(value)) return round_integer(as_integer(value), precision);
    constexpr Integer kFar = 1000;
    return round_float(value.number(), static_cast<int>(std::clamp(precision, -kFar, kFar)));
  }
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = as_double(value) * scale;
  if (!std::isfinite(scaled) || scale == 0) {
    return fail(ErrorCode::kInvalidArgument, "the number is out of range for round()");
  }
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale;
}

constexpr FilterEntry kNumberFilters[] = {
    {"abs", absolute},
    {"float", to_float},
    {"int", to_integer},
    {"round", round_number},
};

}  // namespace

std::span<const FilterEntry> number_filters() {
  return kNumberFilters;
}

}  // namespace tempo9::chat::jinja
