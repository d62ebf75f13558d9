#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "chat/jinja/interpreter.h"
#include "chat/jinja/operators.h"

namespace tempo9::chat::jinja {
namespace {

// `loop.cycle` and `loop.changed`.
class LoopMethod : public Object {
 public:
  LoopMethod(Meter* meter, std::shared_ptr<LoopObject> loop, bool is_cycle)
      : Object(meter, sizeof(LoopMethod)), loop_(std::move(loop)), is_cycle_(is_cycle) {}
  std::string_view type_name() const override { return "method"; }
  bool is_callable() const override { return true; }
  int depth() const override { return loop_->depth() + 1; }
  Result<Value> call(Runtime&, const Arguments& arguments) override {
    if (!is_cycle_) {
      TRY_ASSIGN(const bool changed, loop_->has_changed(arguments));
      return changed;
    }
    const auto& choices = arguments.positional;
    if (choices.empty()) return fail(ErrorCode::kInvalidArgument, "no items for cycling given");
    return choices[static_cast<size_t>(loop_->index0()) % choices.size()];
  }

 private:
  std::shared_ptr<LoopObject> loop_;
  bool is_cycle_;
};

}  // namespace

Result<std::optional<Value>> LoopItems::next() {
  for (;;) {
    TRY_ASSIGN(std::optional<Value> item, cursor_.next(interpreter_.runtime_));
    if (!item || loop_.test == nullptr) return item;
    TRY(interpreter_.assign(loop_.test_target, *item));
    interpreter_.enter(loop_.test_scope);
    TRY_ASSIGN(const Value passes, interpreter_.evaluate(*loop_.test));
    if (passes.truthy()) return item;
  }
}

LoopObject::LoopObject(Meter* meter, Interpreter& interpreter, const For& loop, Value iterable, Cursor cursor,
                       int depth, std::shared_ptr<Activation> outer)
    : Object(meter, sizeof(LoopObject)),
      interpreter_(interpreter),
      loop_(loop),
      iterable_(std::move(iterable)),
      items_(interpreter, loop, std::move(cursor)),
      depth0_(depth),
      outer_(std::move(outer)) {}

Result<const std::optional<Value>*> LoopObject::peek() {
  if (next_) return &next_;
  if (!buffered_.empty()) {
    next_ = std::move(buffered_.back());
    buffered_.pop_back();
  } else if (!drained_) {
    TRY_ASSIGN(next_, items_.next());
    drained_ = !next_.has_value();
  }
  return &next_;
}

Result<bool> LoopObject::advance() {
  TRY_ASSIGN(const std::optional<Value>* next, peek());
  if (!next->has_value()) return false;
  ++index0_;
  previous_ = std::exchange(current_, **next);
  next_.reset();
  return true;
}

Result<Integer> LoopObject::length() {
  if (length_) return *length_;
  if (loop_.test == nullptr) {
    if (const Result<size_t> size = length_of(iterable_)) {
      length_ = static_cast<Integer>(*size);
      return *length_;
    }
  }
  while (!drained_) {
    TRY_ASSIGN(std::optional<Value> item, items_.next());
    drained_ = !item.has_value();
    if (item) TRY(interpreter_.runtime_.push(buffered_, *std::move(item)));
  }
  recount_items();
  std::ranges::reverse(buffered_);
  length_ = static_cast<Integer>(buffered_.size()) + index0_ + 1 + Integer{next_.has_value()};
  return *length_;
}

Result<std::optional<Value>> LoopObject::attribute(Runtime& runtime, std::string_view name) {
  if (name == "index") return index0_ + 1;
  if (name == "index0") return index0_;
  if (name == "first") return index0_ == 0;
  if (name == "depth") return Integer{depth0_ + 1};
  if (name == "depth0") return Integer{depth0_};
  if (name == "last" || name == "nextitem") {
    TRY_ASSIGN(const std::optional<Value>* next, peek());
    if (name == "last") return !next->has_value();
    return next->has_value() ? **next : runtime.undefined("there is no next item");
  }
  if (name == "previtem") return index0_ == 0 ? runtime.undefined("there is no previous item") : previous_;
  if (name == "length" || name == "revindex" || name == "revindex0") {
    TRY_ASSIGN(const Integer total, length());
    if (name == "length") return total;
    return total - index0_ - Integer{name == "revindex0"};
  }
  if (name == "cycle" || name == "changed") {
    return ObjectRef(std::make_shared<LoopMethod>(runtime.meter(), shared_from_this(), name == "cycle"));
  }
  return std::nullopt;
}

void LoopObject::recount_items() {
  const size_t remembered = last_changed_ ? last_changed_->capacity() : 0;
  recount(sizeof(LoopObject) + (buffered_.capacity() + remembered) * sizeof(Value));
}

Result<bool> LoopObject::has_changed(const Arguments& arguments) {
  if (last_changed_ && std::ranges::equal(*last_changed_, arguments.positional, jinja::equals)) return false;
  TRY(interpreter_.runtime_.reserve(arguments.positional.size() * sizeof(Value)));
  last_changed_ = arguments.positional;
  recount_items();
  return true;
}

Result<Value> LoopObject::call(Runtime&, const Arguments& arguments) {
  if (!loop_.recursive) {
    return fail(ErrorCode::kInvalidArgument,
                "The loop must have the 'recursive' marker to be called recursively");
  }
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    return fail(ErrorCode::kInvalidArgument, "a recursive loop is called with one iterable");
  }
  return interpreter_.run_recursive_loop(loop_, arguments.positional[0], depth0_ + 1, outer_);
}

}  // namespace tempo9::chat::jinja
