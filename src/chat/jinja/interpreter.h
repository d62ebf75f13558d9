// Runs a parsed template once.
#pragma once
#include <memory>
#include <vector>

#include "base/result.h"
#include "chat/jinja/ast.h"
#include "chat/jinja/iterate.h"
#include "chat/jinja/runtime.h"

namespace tempo9::chat::jinja {

// The variables of one call of a function. Lives as long as a macro defined in it, for which it is an outer
// function.
class Activation : public Clearable, Metered {
 public:
  Activation(Meter* meter, int slots, std::shared_ptr<Activation> outer)
      : Metered(meter, static_cast<size_t>(slots) * sizeof(Value) + sizeof(Activation) + 2 * kOverhead),
        slots_(static_cast<size_t>(slots)),
        outer_(std::move(outer)) {}
  Value& slot(int index) { return slots_[static_cast<size_t>(index)]; }
  Activation* outer() const { return outer_.get(); }
  void clear() override { slots_.clear(); }
  // Whether something refers to it that may outlive its call.
  bool is_kept = false;

 private:
  std::vector<Value> slots_;
  std::shared_ptr<Activation> outer_;
};

class Interpreter {
 public:
  // All must outlive the interpreter, and the runtime everything the interpreter makes.
  Interpreter(Runtime& runtime, const TemplateTree& tree, const Dict& variables)
      : runtime_(runtime), tree_(tree), variables_(variables) {}

  // A failure begins with the line it came from.
  Result<Text> run();

 private:
  friend class MacroObject;
  friend class LoopItems;
  friend class LoopObject;

  enum class Flow { kNext, kBreak, kContinue };
  Result<Flow> execute(const Body& body);
  Result<Flow> execute(const Statement& statement);
  Result<Flow> dispatch(const Statement& statement);
  Result<Flow> execute_if(const If& statement);
  Result<Flow> execute_for(const For& loop);
  Result<Flow> run_loop(const For& loop, Value iterable, int depth, std::shared_ptr<Activation> self);
  Result<Value> run_recursive_loop(const For& loop, Value iterable, int depth,
                                   std::shared_ptr<Activation> outer);
  Status execute_set(const Set& statement);
  Result<Flow> execute_set_block(const SetBlock& statement);
  Status execute_call_block(const CallBlock& statement);
  Result<Flow> execute_filter_block(const FilterBlock& statement);
  Result<Flow> execute_with(const With& statement);
  Result<Value> call_routine(const Routine& routine, std::shared_ptr<Activation> outer,
                             const Arguments& arguments);
  Result<Arguments> bind_parameters(const Routine& routine, const Arguments& arguments);
  Value make_macro(const Routine& routine);

  Result<Value> evaluate(const Expression& expression);
  Result<Value> dispatch(const Expression& expression);
  Result<Value> evaluate_operands(const Operands& operands);
  Result<Value> evaluate_logical(const Operands& operands);
  Result<Value> evaluate_concat(const Operands& operands);
  Result<Value> evaluate_dict(const DictLiteral& dict);
  Result<Value> evaluate_conditional(const Conditional& conditional);
  Result<Value> evaluate_binary(const Binary& binary);
  Result<Value> evaluate_compare(const Compare& compare);
  Result<Value> evaluate_item(const Item& item);
  Result<Value> evaluate_slice(const Slice& slice);
  Result<Value> evaluate_call(const Call& call, const Value* caller);
  Result<Value> evaluate_filter(const Filter& filter);
  Result<Value> evaluate_test(const Test& test);
  Result<Arguments> evaluate_arguments(const ArgumentList& list);
  Status append_named(Arguments& arguments, const Value& more);

  Value& variable(const Variable& variable);
  void enter(const Scope& scope);
  Status assign(const Target& target, Value value);
  Status check_target(const Target& target);
  Status print(const Value& value);
  Status check_output();
  // Runs `body` with its output going to a text of its own.
  Result<Flow> capture(const Body& body, Text& text);

  Runtime& runtime_;
  const TemplateTree& tree_;
  const Dict& variables_;
  std::shared_ptr<Activation> frame_;
  Text* out_ = nullptr;
  size_t outer_output_ = 0;           // bytes in the outputs that wait for the current one
  const Text* block_text_ = nullptr;  // what the filter of a block is applied to
  int depth_ = 0;
  int failed_line_ = 0;
};

// The items of a loop: those of an iterable that pass the loop's test.
class LoopItems {
 public:
  LoopItems(Interpreter& interpreter, const For& loop, Cursor cursor)
      : interpreter_(interpreter), loop_(loop), cursor_(std::move(cursor)) {}
  Result<std::optional<Value>> next();

 private:
  Interpreter& interpreter_;
  const For& loop_;
  Cursor cursor_;
};

// The special variable `loop`.
class LoopObject : public Object, public std::enable_shared_from_this<LoopObject> {
 public:
  LoopObject(Meter* meter, Interpreter& interpreter, const For& loop, Value iterable, Cursor cursor,
             int depth, std::shared_ptr<Activation> outer);
  // False at the end; otherwise `current` is the next item.
  Result<bool> advance();
  const Value& current() const { return current_; }

  std::string_view type_name() const override { return "LoopContext"; }
  Result<std::optional<Value>> attribute(Runtime& runtime, std::string_view name) override;
  bool is_callable() const override { return true; }
  Result<Value> call(Runtime& runtime, const Arguments& arguments) override;
  Result<bool> has_changed(const Arguments& arguments);
  Integer index0() const { return index0_; }
  int depth() const override { return iterable_.depth() + 1; }

 private:
  Result<Integer> length();
  Result<const std::optional<Value>*> peek();
  void recount_items();
  Interpreter& interpreter_;
  const For& loop_;
  Value iterable_;
  LoopItems items_;
  std::vector<Value> buffered_;  // read ahead to learn the length, in reverse
  bool drained_ = false;
  std::optional<Integer> length_;
  std::optional<Value> next_;  // read ahead by one
  Value current_, previous_;
  Integer index0_ = -1;
  int depth0_;
  std::shared_ptr<Activation> outer_;
  std::optional<std::vector<Value>> last_changed_;
};

}  // namespace tempo9::chat::jinja
