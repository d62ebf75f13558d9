// Matching the arguments of a call with a function's parameters, as Python does.
#pragma once
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

// Arguments by parameter; null where none was given. Points into the Arguments it was bound from.
class Bound {
 public:
  static constexpr size_t kMaxParameters = 6;
  const Value* operator[](size_t parameter) const { return values_[parameter]; }
  bool has(size_t parameter) const { return values_[parameter] != nullptr; }
  // Given, and not None.
  bool is_set(size_t parameter) const { return has(parameter) && !values_[parameter]->is_none(); }
  bool truthy(size_t parameter, bool otherwise) const {
    return has(parameter) ? values_[parameter]->truthy() : otherwise;
  }

 private:
  friend Result<Bound> bind(const Arguments&, std::string_view, std::initializer_list<std::string_view>,
                            size_t);
  std::array<const Value*, kMaxParameters> values_{};
};

// The first `required` parameters must be given. A parameter whose name is empty is given by position only.
Result<Bound> bind(const Arguments& arguments, std::string_view function,
                   std::initializer_list<std::string_view> parameters, size_t required = 0);

// Reading one argument; the failure names what was expected.
Result<Integer> integer_argument(const Value& value);
Result<const Text*> text_argument(const Value& value);

}  // namespace tempo9::chat::jinja
