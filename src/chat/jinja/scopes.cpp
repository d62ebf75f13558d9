#include "chat/jinja/scopes.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "chat/jinja/token_stream.h"

namespace tempo9::chat::jinja {
namespace {

template <class Visit>
Status visit_arguments(const ArgumentList& arguments, Visit visit) {
  for (const ExpressionPtr& argument : arguments.positional) TRY(visit(*argument));
  for (const auto& [name, argument] : arguments.named) TRY(visit(*argument));
  if (arguments.more_positional != nullptr) TRY(visit(*arguments.more_positional));
  if (arguments.more_named != nullptr) TRY(visit(*arguments.more_named));
  return {};
}

// Calls visit(child) -> Status for each direct child.
template <class Visit>
Status visit_children(Expression& expression, Visit visit) {
  const auto visit_some = [&](std::initializer_list<Expression*> children) -> Status {
    for (Expression* child : children) {
      if (child != nullptr) TRY(visit(*child));
    }
    return {};
  };
  switch (expression.kind) {
    case ExpressionKind::kConstant:
    case ExpressionKind::kName:
      return {};
    case ExpressionKind::kTuple:
    case ExpressionKind::kList:
    case ExpressionKind::kNot:
    case ExpressionKind::kNegate:
    case ExpressionKind::kPlus:
    case ExpressionKind::kAnd:
    case ExpressionKind::kOr:
    case ExpressionKind::kConcat:
      for (const ExpressionPtr& operand : static_cast<Operands&>(expression).operands) TRY(visit(*operand));
      return {};
    case ExpressionKind::kDict:
      for (const auto& [key, value] : static_cast<DictLiteral&>(expression).entries) {
        TRY(visit_some({key.get(), value.get()}));
      }
      return {};
    case ExpressionKind::kConditional: {
      auto& conditional = static_cast<Conditional&>(expression);
      return visit_some({conditional.test.get(), conditional.then.get(), conditional.otherwise.get()});
    }
    case ExpressionKind::kBinary: {
      auto& binary = static_cast<Binary&>(expression);
      return visit_some({binary.left.get(), binary.right.get()});
    }
    case ExpressionKind::kCompare: {
      auto& compare = static_cast<Compare&>(expression);
      TRY(visit(*compare.first));
      for (const auto& [comparison, operand] : compare.rest) TRY(visit(*operand));
      return {};
    }
    case ExpressionKind::kAttribute:
      return visit(*static_cast<Attribute&>(expression).object);
    case ExpressionKind::kItem: {
      auto& item = static_cast<Item&>(expression);
      return visit_some({item.object.get(), item.key.get()});
    }
    case ExpressionKind::kSlice: {
      auto& slice = static_cast<Slice&>(expression);
      return visit_some({slice.object.get(), slice.start.get(), slice.stop.get(), slice.step.get()});
    }
    case ExpressionKind::kCall: {
      auto& call = static_cast<Call&>(expression);
      TRY(visit(*call.callee));
      return visit_arguments(call.arguments, visit);
    }
    case ExpressionKind::kFilter: {
      auto& filter = static_cast<Filter&>(expression);
      TRY(visit_some({filter.subject.get()}));
      return visit_arguments(filter.arguments, visit);
    }
    case ExpressionKind::kTest: {
      auto& test = static_cast<Test&>(expression);
      TRY(visit(*test.subject));
      return visit_arguments(test.arguments, visit);
    }
  }
  return {};
}

// Variables of one function are slots of one array.
struct Function {
  int slots = 0;
};

// The names one scope knows.
class Symbols {
 public:
  Symbols(Symbols* outer, Function& function, Scope& scope)
      : outer_(outer), function_(function), scope_(scope) {}

  Function& function() { return function_; }

  void load(std::string_view name) {
    if (find(name).slot < 0) add_loaded(name, Load::Kind::kResolve, {});
  }

  // `conditional`: within an `if`, so that without the assignment the name means what it means outside.
  void store(std::string_view name, bool conditional) {
    if (!stored_.insert(name).second || slots_.contains(name)) return;
    const Variable outer = find_outside(name);
    if (outer.slot >= 0) {
      add_loaded(name, Load::Kind::kCopy, outer);
    } else {
      add_loaded(name, conditional ? Load::Kind::kResolve : Load::Kind::kForget, {});
    }
  }

  Variable declare_parameter(std::string_view name) {
    stored_.insert(name);
    const auto [slot, is_new] = slots_.try_emplace(name, function_.slots);
    if (is_new) ++function_.slots;
    return {0, slot->second};
  }

  // A parameter that exists only if someone uses it: `variable` is then set.
  void declare_special(std::string_view name, Variable* variable) {
    if (slots_.contains(name)) return;
    declare_parameter(name);
    specials_.emplace(name, variable);
  }

  // Slot -1 if no scope knows the name.
  Variable find(std::string_view name) {
    const auto slot = slots_.find(name);
    if (slot == slots_.end()) return find_outside(name);
    if (const auto special = specials_.find(name); special != specials_.end()) {
      *special->second = {0, slot->second};
    }
    return {0, slot->second};
  }

 private:
  void add_loaded(std::string_view name, Load::Kind kind, Variable source) {
    const int slot = function_.slots++;
    slots_.emplace(name, slot);
    scope_.loads.push_back({kind, slot, source, std::string(name)});
  }

  Variable find_outside(std::string_view name) {
    if (outer_ == nullptr) return {};
    Variable variable = outer_->find(name);
    if (variable.slot >= 0 && &outer_->function_ != &function_) ++variable.hops;
    return variable;
  }

  Symbols* outer_;
  Function& function_;
  Scope& scope_;
  std::unordered_map<std::string_view, int> slots_;
  std::unordered_set<std::string_view> stored_;
  std::unordered_map<std::string_view, Variable*> specials_;
};

// Within a loop nothing may be assigned to `loop`.
Status check_not_loop(const Target& target) {
  for (const Target& part : target.parts) TRY(check_not_loop(part));
  if (target.name != "loop" || !target.attribute.empty()) return {};
  return TokenStream::fail_at(target.line, "can't assign to the special variable 'loop' within a loop");
}

// First pass over a scope: which names it reads and assigns. Does not look into inner scopes.
class Collector {
 public:
  Collector(Symbols& symbols, bool within_loop) : symbols_(symbols), within_loop_(within_loop) {}

  Status collect(Body& body, bool conditional) {
    for (const StatementPtr& statement : body) TRY(collect(*statement, conditional));
    return {};
  }

  Status load_names(Expression& expression) {
    if (expression.kind == ExpressionKind::kName) symbols_.load(static_cast<Name&>(expression).name);
    return visit_children(expression, [this](Expression& child) { return load_names(child); });
  }

 private:
  Status collect(Statement& statement, bool conditional) {
    switch (statement.kind) {
      case StatementKind::kPrint:
        return load_names(*static_cast<Print&>(statement).value);
      case StatementKind::kIf: {
        auto& branches = static_cast<If&>(statement);
        for (auto& [test, body] : branches.branches) {
          TRY(load_names(*test));
          TRY(collect(body, true));
        }
        return collect(branches.otherwise, true);
      }
      case StatementKind::kFor:
        return load_names(*static_cast<For&>(statement).iterable);
      case StatementKind::kSet: {
        auto& set = static_cast<Set&>(statement);
        TRY(load_names(*set.value));
        return store(set.target, conditional);
      }
      case StatementKind::kSetBlock:
        return store(static_cast<SetBlock&>(statement).target, conditional);
      case StatementKind::kMacro:
        symbols_.store(static_cast<Macro&>(statement).routine.name, conditional);
        return {};
      case StatementKind::kCallBlock:
        return load_names(*static_cast<CallBlock&>(statement).call);
      case StatementKind::kFilterBlock:
        return load_names(*static_cast<FilterBlock&>(statement).filter);
      case StatementKind::kWith:
        for (auto& [target, value] : static_cast<With&>(statement).variables) TRY(load_names(*value));
        return {};
      case StatementKind::kData:
      case StatementKind::kGeneration:
      case StatementKind::kBreak:
      case StatementKind::kContinue:
        return {};
    }
    return {};
  }

  Status store(const Target& target, bool conditional) {
    for (const Target& part : target.parts) TRY(store(part, conditional));
    if (target.name.empty()) return {};
    if (!target.attribute.empty()) {
      symbols_.load(target.name);
      return {};
    }
    if (within_loop_) TRY(check_not_loop(target));
    symbols_.store(target.name, conditional);
    return {};
  }

  Symbols& symbols_;
  bool within_loop_;
};

// Second pass: sets the variables of all names, and goes through the inner scopes.
class Resolver {
 public:
  Status resolve_tree(TemplateTree& tree) {
    Function function;
    Symbols symbols(nullptr, function, tree.scope);
    TRY(enter(tree.body, symbols));
    tree.slot_count = function.slots;
    return {};
  }

 private:
  Status enter(Body& body, Symbols& symbols) {
    TRY(Collector(symbols, loops_ > 0).collect(body, false));
    return resolve(body, symbols, false);
  }

  // `lenient`: directly within an `if`, where an unknown filter only matters when it is reached.
  Status resolve(Body& body, Symbols& symbols, bool lenient) {
    for (const StatementPtr& statement : body) TRY(resolve(*statement, symbols, lenient));
    return {};
  }

  Status resolve(Expression& expression, Symbols& symbols, bool lenient) {
    if (expression.kind == ExpressionKind::kName) {
      auto& name = static_cast<Name&>(expression);
      name.variable = symbols.find(name.name);
    } else if (expression.kind == ExpressionKind::kConditional) {
      lenient = true;
    } else if (expression.kind == ExpressionKind::kFilter && !lenient) {
      const auto& filter = static_cast<Filter&>(expression);
      if (filter.function == nullptr) {
        return TokenStream::fail_at(filter.line, "no filter named '" + filter.name + "'");
      }
    } else if (expression.kind == ExpressionKind::kTest && !lenient) {
      const auto& test = static_cast<Test&>(expression);
      if (test.function == nullptr)
        return TokenStream::fail_at(test.line, "no test named '" + test.name + "'");
    }
    return visit_children(expression, [&](Expression& child) { return resolve(child, symbols, lenient); });
  }

  static void resolve(Target& target, Symbols& symbols) {
    for (Target& part : target.parts) resolve(part, symbols);
    if (!target.name.empty()) target.variable = symbols.find(target.name);
  }

  static void declare(Target& target, Symbols& symbols) {
    for (Target& part : target.parts) declare(part, symbols);
    if (!target.name.empty()) target.variable = symbols.declare_parameter(target.name);
  }

  Status resolve(Statement& statement, Symbols& symbols, bool lenient) {
    switch (statement.kind) {
      case StatementKind::kPrint:
        return resolve(*static_cast<Print&>(statement).value, symbols, lenient);
      case StatementKind::kIf: {
        auto& branches = static_cast<If&>(statement);
        for (auto& [test, body] : branches.branches) {
          TRY(resolve(*test, symbols, true));
          TRY(resolve(body, symbols, true));
        }
        return resolve(branches.otherwise, symbols, true);
      }
      case StatementKind::kFor:
        return resolve_for(static_cast<For&>(statement), symbols, lenient);
      case StatementKind::kSet: {
        auto& set = static_cast<Set&>(statement);
        resolve(set.target, symbols);
        return resolve(*set.value, symbols, lenient);
      }
      case StatementKind::kSetBlock: {
        auto& set = static_cast<SetBlock&>(statement);
        resolve(set.target, symbols);
        return resolve_block(set.body, set.scope, set.filter.get(), symbols);
      }
      case StatementKind::kMacro: {
        auto& macro = static_cast<Macro&>(statement);
        macro.variable = symbols.find(macro.routine.name);
        return resolve_routine(macro.routine, symbols);
      }
      case StatementKind::kCallBlock: {
        auto& block = static_cast<CallBlock&>(statement);
        TRY(resolve(*block.call, symbols, lenient));
        return resolve_routine(block.routine, symbols);
      }
      case StatementKind::kFilterBlock: {
        auto& block = static_cast<FilterBlock&>(statement);
        return resolve_block(block.body, block.scope, block.filter.get(), symbols);
      }
      case StatementKind::kWith:
        return resolve_with(static_cast<With&>(statement), symbols, lenient);
      case StatementKind::kGeneration: {
        auto& generation = static_cast<Generation&>(statement);
        return resolve_block(generation.body, generation.scope, nullptr, symbols);
      }
      case StatementKind::kData:
      case StatementKind::kBreak:
      case StatementKind::kContinue:
        return {};
    }
    return {};
  }

  Status resolve_for(For& loop, Symbols& outer, bool lenient) {
    TRY(resolve(*loop.iterable, outer, lenient));
    Function own;
    Function& function = loop.recursive ? own : outer.function();
    TRY(check_not_loop(loop.target));
    ++loops_;
    Symbols body(&outer, function, loop.scope);
    body.declare_special("loop", &loop.loop);
    declare(loop.target, body);
    TRY(enter(loop.body, body));
    if (loop.test != nullptr) {
      Symbols test(&outer, function, loop.test_scope);
      declare(loop.test_target, test);
      TRY(Collector(test, true).load_names(*loop.test));
      TRY(resolve(*loop.test, test, false));
    }
    --loops_;
    Symbols otherwise(&outer, function, loop.otherwise_scope);
    TRY(enter(loop.otherwise, otherwise));
    loop.slot_count = own.slots;
    return {};
  }

  Status resolve_block(Body& body, Scope& scope, Expression* filter, Symbols& outer) {
    Symbols symbols(&outer, outer.function(), scope);
    if (filter != nullptr) TRY(Collector(symbols, loops_ > 0).load_names(*filter));
    TRY(enter(body, symbols));
    if (filter != nullptr) TRY(resolve(*filter, symbols, false));
    return {};
  }

  Status resolve_with(With& block, Symbols& outer, bool lenient) {
    Symbols symbols(&outer, outer.function(), block.scope);
    for (auto& [target, value] : block.variables) {
      TRY(resolve(*value, outer, lenient));
      declare(target, symbols);
    }
    return enter(block.body, symbols);
  }

  Status resolve_routine(Routine& routine, Symbols& outer) {
    Function function;
    Symbols symbols(&outer, function, routine.scope);
    for (const std::string& name : routine.parameters) {
      routine.parameter_variables.push_back(symbols.declare_parameter(name));
    }
    symbols.declare_special("caller", &routine.caller);
    symbols.declare_special("kwargs", &routine.keywords);
    symbols.declare_special("varargs", &routine.varargs);
    Collector collector(symbols, loops_ > 0);
    for (const ExpressionPtr& value : routine.defaults) TRY(collector.load_names(*value));
    TRY(enter(routine.body, symbols));
    for (const ExpressionPtr& value : routine.defaults) TRY(resolve(*value, symbols, false));
    routine.slot_count = function.slots;
    return {};
  }

  int loops_ = 0;  // around the current scope
};

}  // namespace

Status resolve_scopes(TemplateTree& tree) {
  return Resolver().resolve_tree(tree);
}

}  // namespace tempo9::chat::jinja
