#include "chat/jinja/bind.h"

#include <algorithm>

#include "base/check.h"
#include "chat/jinja/number.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"

namespace tempo9::chat::jinja {

Result<Bound> bind(const Arguments& arguments, std::string_view function,
                   std::initializer_list<std::string_view> parameters, size_t required) {
  CHECK(parameters.size() <= Bound::kMaxParameters);
  Bound bound;
  if (arguments.positional.size() > parameters.size()) {
    return fail(ErrorCode::kInvalidArgument, "{}() takes at most {} arguments ({} given)", function,
                parameters.size(), arguments.positional.size());
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) bound.values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto found = name.empty() ? parameters.end() : std::ranges::find(parameters, name);
    if (found == parameters.end()) {
      return fail(ErrorCode::kInvalidArgument, "{}() got an unexpected keyword argument '{}'", function,
                  shorten(name));
    }
    const Value*& slot = bound.values_[static_cast<size_t>(found - parameters.begin())];
    if (slot != nullptr) {
      return fail(ErrorCode::kInvalidArgument, "{}() got multiple values for argument '{}'", function,
                  shorten(name));
    }
    slot = &value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (bound.values_[i] == nullptr) {
      return fail(ErrorCode::kInvalidArgument, "{}() needs at least {} argument(s)", function, required);
    }
  }
  return bound;
}

Result<Integer> integer_argument(const Value& value) {
  if (is_integral(value)) return as_integer(value);
  if (value.is_undefined()) return use_of_undefined(value);
  return fail(ErrorCode::kInvalidArgument, "'{}' object cannot be interpreted as an integer",
              value.type_name());
}

Result<const Text*> text_argument(const Value& value) {
  if (value.is_string()) return &value.text();
  if (value.is_undefined()) return use_of_undefined(value);
  return fail(ErrorCode::kInvalidArgument, "a string is needed, not '{}'", value.type_name());
}

}  // namespace tempo9::chat::jinja
