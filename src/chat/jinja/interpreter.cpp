#include "chat/jinja/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "chat/jinja/builtins.h"
#include "chat/jinja/print.h"
#include "chat/jinja/token_stream.h"

namespace tempo9::chat::jinja {
namespace {

// Restores a value when a scope is left.
template <class T>
class Restore {
 public:
  Restore(T& variable, T value) : variable_(variable), old_(std::exchange(variable, std::move(value))) {}
  ~Restore() { variable_ = std::move(old_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& variable_;
  T old_;
};

}  // namespace

// A macro, or the `caller` of a call block.
class MacroObject : public Object {
 public:
  MacroObject(Meter* meter, Interpreter& interpreter, const Routine& routine,
              std::shared_ptr<Activation> outer)
      : Object(meter, sizeof(MacroObject)),
        interpreter_(interpreter),
        routine_(routine),
        outer_(std::move(outer)) {}
  std::string_view type_name() const override { return "Macro"; }
  Status append_repr(Runtime&, Text& out) const override {
    out.append(routine_.name.empty() ? "<Macro anonymous>" : fmt::format("<Macro {}>", quote(routine_.name)));
    return {};
  }
  bool is_callable() const override { return true; }
  Result<Value> call(Runtime&, const Arguments& arguments) override {
    return interpreter_.call_routine(routine_, outer_, arguments);
  }

 private:
  Interpreter& interpreter_;
  const Routine& routine_;
  std::shared_ptr<Activation> outer_;
};

Result<Text> Interpreter::run() {
  frame_ = std::make_shared<Activation>(runtime_.meter(), tree_.slot_count, nullptr);
  runtime_.keep(frame_);
  frame_->is_kept = true;
  Text text(runtime_.meter());
  out_ = &text;
  enter(tree_.scope);
  Result<Flow> result = execute(tree_.body);
  if (result) {
    TRY(runtime_.reserve(0));  // nothing has been left out
    return std::move(text).counted_by(nullptr);
  }
  if (failed_line_ == 0) return tl::unexpected<Error>(std::move(result).error());
  return fail(result.error().code, "line {}: {}", failed_line_, result.error().message);
}

Value& Interpreter::variable(const Variable& variable) {
  Activation* activation = frame_.get();
  for (int hops = variable.hops; hops > 0; --hops) activation = activation->outer();
  return activation->slot(variable.slot);
}

void Interpreter::enter(const Scope& scope) {
  for (const Load& load : scope.loads) {
    Value value;
    if (load.kind == Load::Kind::kCopy) {
      value = variable(load.source);
    } else if (load.kind == Load::Kind::kResolve) {
      const Value* argument = variables_.find(load.name);
      value = argument != nullptr ? *argument : find_global(runtime_, load.name);
    }
    frame_->slot(load.slot) = std::move(value);
  }
}

Result<Interpreter::Flow> Interpreter::execute(const Body& body) {
  for (const StatementPtr& statement : body) {
    TRY_ASSIGN(const Flow flow, execute(*statement));
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::execute(const Statement& statement) {
  const Restore level(depth_, depth_ + 1);
  Result<Flow> flow = dispatch(statement);
  if (!flow && failed_line_ == 0) failed_line_ = statement.line;
  return flow;
}

Result<Interpreter::Flow> Interpreter::dispatch(const Statement& statement) {
  TRY(runtime_.step());
  if (depth_ > limits::kMaxTemplateDepth) {
    return fail(ErrorCode::kInvalidArgument, "the template calls itself deeper than {} levels",
                limits::kMaxTemplateDepth);
  }
  switch (statement.kind) {
    case StatementKind::kData:
      out_->append(static_cast<const Data&>(statement).text);
      TRY(check_output());
      return Flow::kNext;
    case StatementKind::kPrint: {
      TRY_ASSIGN(const Value value, evaluate(*static_cast<const Print&>(statement).value));
      TRY(print(value));
      return Flow::kNext;
    }
    case StatementKind::kIf:
      return execute_if(static_cast<const If&>(statement));
    case StatementKind::kFor:
      return execute_for(static_cast<const For&>(statement));
    case StatementKind::kSet:
      TRY(execute_set(static_cast<const Set&>(statement)));
      return Flow::kNext;
    case StatementKind::kSetBlock:
      return execute_set_block(static_cast<const SetBlock&>(statement));
    case StatementKind::kMacro: {
      const auto& macro = static_cast<const Macro&>(statement);
      variable(macro.variable) = make_macro(macro.routine);
      return Flow::kNext;
    }
    case StatementKind::kCallBlock:
      TRY(execute_call_block(static_cast<const CallBlock&>(statement)));
      return Flow::kNext;
    case StatementKind::kFilterBlock:
      return execute_filter_block(static_cast<const FilterBlock&>(statement));
    case StatementKind::kWith:
      return execute_with(static_cast<const With&>(statement));
    case StatementKind::kGeneration: {
      const auto& generation = static_cast<const Generation&>(statement);
      enter(generation.scope);
      return execute(generation.body);
    }
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Status Interpreter::print(const Value& value) {
  TRY(append_str(runtime_, *out_, value));
  return check_output();
}

Status Interpreter::check_output() {
  if (outer_output_ + out_->size() <= limits::kMaxTemplateOutputBytes) return {};
  return fail(ErrorCode::kInvalidArgument, "the template writes more than {} bytes",
              limits::kMaxTemplateOutputBytes);
}

Result<Interpreter::Flow> Interpreter::capture(const Body& body, Text& text) {
  const Restore outer(outer_output_, outer_output_ + out_->size());
  const Restore out(out_, &text);
  return execute(body);
}

Result<Interpreter::Flow> Interpreter::execute_if(const If& statement) {
  for (const auto& [test, body] : statement.branches) {
    TRY_ASSIGN(const Value value, evaluate(*test));
    if (value.truthy()) return execute(body);
  }
  return execute(statement.otherwise);
}

Result<Interpreter::Flow> Interpreter::execute_for(const For& loop) {
  TRY_ASSIGN(Value iterable, evaluate(*loop.iterable));
  if (!loop.recursive) return run_loop(loop, std::move(iterable), 0, nullptr);
  TRY_ASSIGN(const Value text, run_recursive_loop(loop, std::move(iterable), 0, frame_));
  TRY(print(text));
  return Flow::kNext;
}

Result<Value> Interpreter::run_recursive_loop(const For& loop, Value iterable, int depth,
                                              std::shared_ptr<Activation> outer) {
  if (!outer->is_kept) {
    runtime_.keep(outer);
    outer->is_kept = true;
  }
  auto activation = std::make_shared<Activation>(runtime_.meter(), loop.slot_count, outer);
  const Restore frame(frame_, std::move(activation));
  Text text(runtime_.meter());
  {
    const Restore waiting(outer_output_, outer_output_ + out_->size());
    const Restore out(out_, &text);
    TRY(run_loop(loop, std::move(iterable), depth, std::move(outer)));
  }
  return runtime_.string(std::move(text));
}

Result<Interpreter::Flow> Interpreter::run_loop(const For& loop, Value iterable, int depth,
                                                std::shared_ptr<Activation> outer) {
  TRY_ASSIGN(Cursor cursor, Cursor::over(iterable));
  std::shared_ptr<LoopObject> object;
  std::optional<LoopItems> items;
  if (loop.loop.slot >= 0) {
    object = std::make_shared<LoopObject>(runtime_.meter(), *this, loop, std::move(iterable),
                                          std::move(cursor), depth, std::move(outer));
  } else {
    items.emplace(*this, loop, std::move(cursor));
  }
  bool completed_one = false;  // a body that was run to its end
  for (;;) {
    if (object != nullptr) {
      TRY_ASSIGN(const bool more, object->advance());
      if (!more) break;
      TRY(assign(loop.target, object->current()));
      variable(loop.loop) = ObjectRef(object);
    } else {
      TRY_ASSIGN(std::optional<Value> item, items->next());
      if (!item) break;
      TRY(assign(loop.target, *std::move(item)));
    }
    enter(loop.scope);
    TRY_ASSIGN(const Flow flow, execute(loop.body));
    if (flow == Flow::kBreak) break;
    if (flow == Flow::kNext) completed_one = true;
  }
  if (completed_one || !loop.has_otherwise) return Flow::kNext;
  enter(loop.otherwise_scope);
  return execute(loop.otherwise);
}

Status Interpreter::check_target(const Target& target) {
  for (const Target& part : target.parts) TRY(check_target(part));
  if (target.attribute.empty()) return {};
  const Variable& where = target.variable;
  const Value* value = where.slot < 0 ? nullptr : &variable(where);
  if (value != nullptr && value->is(Kind::kObject) && dynamic_cast<Namespace*>(&value->object()) != nullptr) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument, "cannot assign attribute on non-namespace object");
}

Status Interpreter::assign(const Target& target, Value value) {
  if (!target.attribute.empty()) {
    auto& object = static_cast<Namespace&>(variable(target.variable).object());
    return object.assign(runtime_, Text(target.attribute), std::move(value));
  }
  if (!target.name.empty()) {
    variable(target.variable) = std::move(value);
    return {};
  }
  TRY_ASSIGN(Cursor cursor, Cursor::over(value));
  std::vector<Value> items;
  for (;;) {
    TRY_ASSIGN(std::optional<Value> item, cursor.next(runtime_));
    if (!item) break;
    TRY(runtime_.push(items, *std::move(item)));
    if (items.size() > target.parts.size()) {
      return fail(ErrorCode::kInvalidArgument, "too many values to unpack (expected {})",
                  target.parts.size());
    }
  }
  if (items.size() < target.parts.size()) {
    return fail(ErrorCode::kInvalidArgument, "not enough values to unpack (expected {}, got {})",
                target.parts.size(), items.size());
  }
  for (size_t i = 0; i < items.size(); ++i) {
    // What an earlier part assigned may have replaced a later part's namespace.
    TRY(check_target(target.parts[i]));
    TRY(assign(target.parts[i], std::move(items[i])));
  }
  return {};
}

Status Interpreter::execute_set(const Set& statement) {
  TRY(check_target(statement.target));
  TRY_ASSIGN(Value value, evaluate(*statement.value));
  TRY(check_target(statement.target));
  return assign(statement.target, std::move(value));
}

Result<Interpreter::Flow> Interpreter::execute_set_block(const SetBlock& statement) {
  enter(statement.scope);
  Text text(runtime_.meter());
  TRY_ASSIGN(const Flow flow, capture(statement.body, text));
  if (flow != Flow::kNext) return flow;
  Value value;
  if (statement.filter != nullptr) {
    const Restore block(block_text_, static_cast<const Text*>(&text));
    TRY_ASSIGN(value, evaluate(*statement.filter));
  } else {
    value = runtime_.string(std::move(text));
  }
  TRY(check_target(statement.target));
  TRY(assign(statement.target, std::move(value)));
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::execute_filter_block(const FilterBlock& statement) {
  enter(statement.scope);
  Text text(runtime_.meter());
  TRY_ASSIGN(const Flow flow, capture(statement.body, text));
  if (flow != Flow::kNext) return flow;
  const Restore block(block_text_, static_cast<const Text*>(&text));
  TRY_ASSIGN(const Value value, evaluate(*statement.filter));
  TRY(print(value));
  return Flow::kNext;
}

Result<Interpreter::Flow> Interpreter::execute_with(const With& statement) {
  std::vector<Value> values;
  TRY_ASSIGN(const Metered held, runtime_.hold(statement.variables.size() * sizeof(Value)));
  values.reserve(statement.variables.size());
  for (const auto& [target, expression] : statement.variables) {
    TRY_ASSIGN(Value value, evaluate(*expression));
    values.push_back(std::move(value));
  }
  enter(statement.scope);
  for (size_t i = 0; i < values.size(); ++i) {
    TRY(assign(statement.variables[i].first, std::move(values[i])));
  }
  return execute(statement.body);
}

Value Interpreter::make_macro(const Routine& routine) {
  if (!frame_->is_kept) {
    runtime_.keep(frame_);
    frame_->is_kept = true;
  }
  return ObjectRef(std::make_shared<MacroObject>(runtime_.meter(), *this, routine, frame_));
}

Status Interpreter::execute_call_block(const CallBlock& statement) {
  const Value caller = make_macro(statement.routine);
  const auto& call = static_cast<const Call&>(*statement.call);
  TRY_ASSIGN(const Value value, evaluate_call(call, &caller));
  return print(value);
}

// Distributes the arguments of a call over a routine's parameters: `positional` holds one value (maybe
// missing) for each parameter, `named` and what lies behind the parameters are left over.
Result<Arguments> Interpreter::bind_parameters(const Routine& routine, const Arguments& arguments) {
  const size_t count = routine.parameters.size();
  Arguments bound;
  const size_t values = std::max(count, arguments.positional.size());
  TRY(runtime_.reserve(values * sizeof(Value) + arguments.named.size() * sizeof(arguments.named[0])));
  bound.positional.reserve(values);
  bound.positional.resize(count);
  bound.named = arguments.named;
  bound.recount(runtime_.meter());
  runtime_.charge(count * (1 + arguments.named.size()) / 8);
  TRY(runtime_.step());
  const auto take_named = [&bound](std::string_view name) -> std::optional<Value> {
    for (auto it = bound.named.begin(); it != bound.named.end(); ++it) {
      if (it->first != name) continue;
      Value value = std::move(it->second);
      bound.named.erase(it);
      return value;
    }
    return std::nullopt;
  };
  for (size_t i = 0; i < count; ++i) {
    if (i < arguments.positional.size()) {
      bound.positional[i] = arguments.positional[i];
    } else if (std::optional<Value> value = take_named(routine.parameters[i])) {
      bound.positional[i] = *std::move(value);
    }
  }
  if (routine.caller.slot >= 0) {
    std::optional<Value> caller = take_named("caller");
    frame_->slot(routine.caller.slot) =
        caller && !caller->is_none() ? *std::move(caller) : runtime_.undefined("No caller defined");
  }
  for (size_t i = count; i < arguments.positional.size(); ++i)
    bound.positional.push_back(arguments.positional[i]);
  return bound;
}

Result<Value> Interpreter::call_routine(const Routine& routine, std::shared_ptr<Activation> outer,
                                        const Arguments& arguments) {
  const Restore frame(frame_,
                      std::make_shared<Activation>(runtime_.meter(), routine.slot_count, std::move(outer)));
  const Restore block(block_text_, static_cast<const Text*>(nullptr));
  TRY_ASSIGN(Arguments bound, bind_parameters(routine, arguments));
  const size_t count = routine.parameters.size();
  if (routine.keywords.slot >= 0) {
    std::vector<Dict::Entry> entries;
    for (auto& [name, value] : bound.named)
      TRY(runtime_.push(entries, {runtime_.string(name), std::move(value)}));
    TRY_ASSIGN(frame_->slot(routine.keywords.slot), runtime_.dict(std::move(entries)));
  } else if (!bound.named.empty()) {
    return fail(ErrorCode::kInvalidArgument, "macro {} takes no keyword argument {}", quote(routine.name),
                quote(bound.named[0].first));
  }
  if (routine.varargs.slot >= 0) {
    TRY(runtime_.reserve(bound.positional.size() * sizeof(Value)));
    std::vector<Value> rest(bound.positional.begin() + static_cast<std::ptrdiff_t>(count),
                            bound.positional.end());
    TRY_ASSIGN(frame_->slot(routine.varargs.slot), runtime_.tuple(std::move(rest)));
  } else if (bound.positional.size() > count) {
    return fail(ErrorCode::kInvalidArgument, "macro {} takes not more than {} argument(s)",
                quote(routine.name), count);
  }
  for (size_t i = 0; i < count; ++i) {
    frame_->slot(routine.parameter_variables[i].slot) = std::move(bound.positional[i]);
  }
  enter(routine.scope);
  for (size_t i = 0; i < count; ++i) {
    if (!frame_->slot(routine.parameter_variables[i].slot).is_missing()) continue;
    const size_t first_default = count - routine.defaults.size();
    Value value;
    if (i >= first_default) {
      TRY_ASSIGN(value, evaluate(*routine.defaults[i - first_default]));
    } else {
      value = runtime_.undefined(fmt::format("parameter {} was not provided", quote(routine.parameters[i])));
    }
    frame_->slot(routine.parameter_variables[i].slot) = std::move(value);
  }
  Text text(runtime_.meter());
  TRY(capture(routine.body, text));
  return runtime_.string(std::move(text));
}

}  // namespace tempo9::chat::jinja
