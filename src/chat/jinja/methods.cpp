#include "chat/jinja/methods.h"

#include <fmt/format.h>

#include <unordered_map>

namespace tempo9::chat::jinja {
namespace {

using MethodMap = std::unordered_map<std::string_view, const Method*>;

MethodMap make_map(std::span<const Method> methods) {
  MethodMap map;
  for (const Method& method : methods) map.emplace(method.name, &method);
  return map;
}

const MethodMap* methods_of(Kind kind) {
  static const MethodMap strings = make_map(string_methods());
  static const MethodMap lists = make_map(container_methods(Kind::kList));
  static const MethodMap tuples = make_map(container_methods(Kind::kTuple));
  static const MethodMap dicts = make_map(container_methods(Kind::kDict));
  switch (kind) {
    case Kind::kString:
      return &strings;
    case Kind::kList:
      return &lists;
    case Kind::kTuple:
      return &tuples;
    case Kind::kDict:
      return &dicts;
    default:
      return nullptr;
  }
}

class BoundMethod : public Object {
 public:
  BoundMethod(Meter* meter, Value self, const Method& method)
      : Object(meter, sizeof(BoundMethod)), self_(std::move(self)), method_(method) {}
  std::string_view type_name() const override { return "builtin_function_or_method"; }
  Status append_repr(Runtime&, Text& out) const override {
    out.append(fmt::format("<built-in method {} of {} object>", method_.name, self_.type_name()));
    return {};
  }
  bool is_callable() const override { return true; }
  Result<Value> call(Runtime& runtime, const Arguments& arguments) override {
    return method_.function(runtime, self_, arguments);
  }
  bool equals(const Object& other) const override {
    const auto* method = dynamic_cast<const BoundMethod*>(&other);
    return method != nullptr && &method->method_ == &method_ && method->self_.is_same(self_);
  }
  size_t weight() const override { return self_.weight(); }
  int depth() const override { return self_.depth() + 1; }

 private:
  Value self_;
  const Method& method_;
};

}  // namespace

const Method* find_method(const Value& value, std::string_view name) {
  const MethodMap* methods = methods_of(value.kind());
  if (methods == nullptr) return nullptr;
  const auto found = methods->find(name);
  return found == methods->end() ? nullptr : found->second;
}

Value bind_method(Runtime& runtime, const Value& self, const Method& method) {
  return ObjectRef(std::make_shared<BoundMethod>(runtime.meter(), self, method));
}

}  // namespace tempo9::chat::jinja
