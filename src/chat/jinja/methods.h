// Methods of strings, lists, tuples and dicts.
#pragma once
#include <span>
#include <string_view>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

struct Method {
  std::string_view name;
  // Null for a method that would change its list or dict: the sandbox refuses its use.
  Result<Value> (*function)(Runtime& runtime, const Value& self, const Arguments& arguments);
};

// Null if the value's type has no such method.
const Method* find_method(const Value& value, std::string_view name);
// The method as a value that can be called.
Value bind_method(Runtime& runtime, const Value& self, const Method& method);

// One table a file.
std::span<const Method> string_methods();
std::span<const Method> container_methods(Kind kind);

}  // namespace tempo9::chat::jinja
