#include <algorithm>

#include "chat/jinja/bind.h"
#include "chat/jinja/builtins.h"
#include "chat/jinja/methods.h"
#include "chat/jinja/operators.h"

namespace tempo9::chat::jinja {
namespace {

Result<Value> count_item(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "count", {""}, 1));
  runtime.charge_bytes(self.weight());
  return static_cast<Integer>(
      std::ranges::count_if(self.items(), [&](const Value& item) { return equals(item, *bound[0]); }));
}

Result<Value> index_of_item(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "index", {""}, 1));
  runtime.charge_bytes(self.weight());
  const auto& items = self.items();
  const auto found = std::ranges::find_if(items, [&](const Value& item) { return equals(item, *bound[0]); });
  if (found == items.end()) return fail(ErrorCode::kInvalidArgument, "{} has no such item", self.type_name());
  return static_cast<Integer>(found - items.begin());
}

Result<Value> copy(Runtime&, const Value& self, const Arguments& arguments) {
  TRY(bind(arguments, "copy", {}));
  return self;
}

Result<Value> get(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY_ASSIGN(const Bound bound, bind(arguments, "get", {"", ""}, 1));
  if (!is_hashable(*bound[0])) {
    return fail(ErrorCode::kInvalidArgument, "unhashable type: '{}'", bound[0]->type_name());
  }
  runtime.charge_bytes(bound[0]->weight());
  if (const Value* value = self.dict().find(*bound[0])) return *value;
  return bound.has(1) ? *bound[1] : Value(None{});
}

template <DictView::Part part>
Result<Value> view(Runtime& runtime, const Value& self, const Arguments& arguments) {
  TRY(bind(arguments, "items, keys and values", {}));
  return ObjectRef(std::make_shared<DictView>(runtime.meter(), self.dict_ref(), part));
}

constexpr Method kListMethods[] = {
    {"append", nullptr}, {"clear", nullptr},       {"copy", copy},      {"count", count_item},
    {"extend", nullptr}, {"index", index_of_item}, {"insert", nullptr}, {"pop", nullptr},
    {"remove", nullptr}, {"reverse", nullptr},     {"sort", nullptr},
};

constexpr Method kTupleMethods[] = {{"count", count_item}, {"index", index_of_item}};

constexpr Method kDictMethods[] = {
    {"clear", nullptr},
    {"copy", copy},
    {"get", get},
    {"items", view<DictView::Part::kItems>},
    {"keys", view<DictView::Part::kKeys>},
    {"pop", nullptr},
    {"popitem", nullptr},
    {"setdefault", nullptr},
    {"update", nullptr},
    {"values", view<DictView::Part::kValues>},
};

}  // namespace

std::span<const Method> container_methods(Kind kind) {
  switch (kind) {
    case Kind::kList:
      return kListMethods;
    case Kind::kTuple:
      return kTupleMethods;
    default:
      return kDictMethods;
  }
}

}  // namespace tempo9::chat::jinja
