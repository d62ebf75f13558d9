// The global functions that chat templates use, and the objects these and methods return: range, dict,
// namespace, raise_exception and strftime_now.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

// A global by its name; missing if there is none.
Value find_global(Runtime& runtime, std::string_view name);

// What `dict.items()`, `.keys()` and `.values()` return.
class DictView : public Object {
 public:
  enum class Part { kItems, kKeys, kValues };
  DictView(Meter* meter, DictRef dict, Part part)
      : Object(meter, sizeof(DictView)), dict_(std::move(dict)), part_(part) {}
  std::string_view type_name() const override;
  Status append_repr(Runtime& runtime, Text& out) const override;
  bool truthy() const override { return dict_->size() != 0; }
  std::optional<size_t> size() const override { return dict_->size(); }
  Value at(Runtime& runtime, size_t index) const override;
  size_t weight() const override { return dict_->weight(); }
  int depth() const override { return dict_->depth() + 1; }

 private:
  DictRef dict_;
  Part part_;
};

// Part of a range (the only object that can be indexed): its items begin, begin + step, …
Value slice_range(Runtime& runtime, const Value& range, Integer begin, Integer step, size_t count);

// The one thing a template can change: `{% set ns.name = value %}`.
class Namespace : public Object, public Clearable {
 public:
  explicit Namespace(Meter* meter) : Object(meter, sizeof(Namespace)) {}
  std::string_view type_name() const override { return "Namespace"; }
  Status append_repr(Runtime& runtime, Text& out) const override;
  Result<std::optional<Value>> attribute(Runtime& runtime, std::string_view name) override;
  Status assign(Runtime& runtime, const Text& name, Value value);
  void clear() override { attributes_.clear(); }

 private:
  std::vector<std::pair<Value, Value>> attributes_;  // by name; few
};

}  // namespace tempo9::chat::jinja
