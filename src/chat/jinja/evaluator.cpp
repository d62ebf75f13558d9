// The interpreter's expressions.
#include <fmt/format.h>

#include "chat/jinja/access.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/operators.h"
#include "chat/jinja/print.h"

namespace tempo9::chat::jinja {
namespace {

constexpr size_t kMaxKeywordBytes = 1024;

}  // namespace

Result<Value> Interpreter::evaluate(const Expression& expression) {
  ++depth_;
  Result<Value> value = dispatch(expression);
  --depth_;
  if (!value && failed_line_ == 0) failed_line_ = expression.line;
  return value;
}

Result<Value> Interpreter::dispatch(const Expression& expression) {
  TRY(runtime_.step());
  switch (expression.kind) {
    case ExpressionKind::kConstant:
      return static_cast<const Constant&>(expression).value;
    case ExpressionKind::kName: {
      const auto& name = static_cast<const Name&>(expression);
      if (name.variable.slot >= 0) {
        const Value& value = variable(name.variable);
        if (!value.is_missing()) return value;
      }
      return runtime_.undefined(fmt::format("{} is undefined", quote(name.name)));
    }
    case ExpressionKind::kTuple:
    case ExpressionKind::kList:
    case ExpressionKind::kNot:
    case ExpressionKind::kNegate:
    case ExpressionKind::kPlus:
      return evaluate_operands(static_cast<const Operands&>(expression));
    case ExpressionKind::kAnd:
    case ExpressionKind::kOr:
      return evaluate_logical(static_cast<const Operands&>(expression));
    case ExpressionKind::kConcat:
      return evaluate_concat(static_cast<const Operands&>(expression));
    case ExpressionKind::kDict:
      return evaluate_dict(static_cast<const DictLiteral&>(expression));
    case ExpressionKind::kConditional:
      return evaluate_conditional(static_cast<const Conditional&>(expression));
    case ExpressionKind::kBinary:
      return evaluate_binary(static_cast<const Binary&>(expression));
    case ExpressionKind::kCompare:
      return evaluate_compare(static_cast<const Compare&>(expression));
    case ExpressionKind::kAttribute: {
      const auto& attribute = static_cast<const Attribute&>(expression);
      TRY_ASSIGN(const Value object, evaluate(*attribute.object));
      return get_attribute(runtime_, object, attribute.name);
    }
    case ExpressionKind::kItem:
      return evaluate_item(static_cast<const Item&>(expression));
    case ExpressionKind::kSlice:
      return evaluate_slice(static_cast<const Slice&>(expression));
    case ExpressionKind::kCall:
      return evaluate_call(static_cast<const Call&>(expression), nullptr);
    case ExpressionKind::kFilter:
      return evaluate_filter(static_cast<const Filter&>(expression));
    case ExpressionKind::kTest:
      return evaluate_test(static_cast<const Test&>(expression));
  }
  return Value();
}

Result<Value> Interpreter::evaluate_operands(const Operands& operands) {
  if (operands.kind == ExpressionKind::kTuple || operands.kind == ExpressionKind::kList) {
    std::vector<Value> items;
    TRY_ASSIGN(const Metered held, runtime_.hold(operands.operands.size() * sizeof(Value)));
    items.reserve(operands.operands.size());
    for (const ExpressionPtr& operand : operands.operands) {
      TRY_ASSIGN(Value item, evaluate(*operand));
      items.push_back(std::move(item));
    }
    return operands.kind == ExpressionKind::kList ? runtime_.list(std::move(items))
                                                  : runtime_.tuple(std::move(items));
  }
  TRY_ASSIGN(const Value operand, evaluate(*operands.operands[0]));
  if (operands.kind == ExpressionKind::kNot) return !operand.truthy();
  return operands.kind == ExpressionKind::kNegate ? negate(operand) : plus(operand);
}

Result<Value> Interpreter::evaluate_logical(const Operands& operands) {
  Value value;
  for (const ExpressionPtr& operand : operands.operands) {
    TRY_ASSIGN(value, evaluate(*operand));
    if (value.truthy() == (operands.kind == ExpressionKind::kOr)) break;
  }
  return value;
}

Result<Value> Interpreter::evaluate_concat(const Operands& operands) {
  Text text(runtime_.meter());
  for (const ExpressionPtr& operand : operands.operands) {
    TRY_ASSIGN(const Value value, evaluate(*operand));
    TRY(append_str(runtime_, text, value));
  }
  return runtime_.string(std::move(text));
}

Result<Value> Interpreter::evaluate_dict(const DictLiteral& dict) {
  std::vector<Dict::Entry> entries;
  TRY_ASSIGN(const Metered held, runtime_.hold(dict.entries.size() * sizeof(Dict::Entry)));
  entries.reserve(dict.entries.size());
  for (const auto& [key, value] : dict.entries) {
    TRY_ASSIGN(Value key_value, evaluate(*key));
    TRY_ASSIGN(Value entry_value, evaluate(*value));
    entries.emplace_back(std::move(key_value), std::move(entry_value));
  }
  return runtime_.dict(std::move(entries));
}

Result<Value> Interpreter::evaluate_conditional(const Conditional& conditional) {
  TRY_ASSIGN(const Value test, evaluate(*conditional.test));
  if (test.truthy()) return evaluate(*conditional.then);
  if (conditional.otherwise != nullptr) return evaluate(*conditional.otherwise);
  return runtime_.undefined(
      fmt::format("the inline if-expression on line {} evaluated to false and no else section was defined",
                  conditional.line));
}

Result<Value> Interpreter::evaluate_binary(const Binary& binary) {
  TRY_ASSIGN(const Value left, evaluate(*binary.left));
  TRY_ASSIGN(const Value right, evaluate(*binary.right));
  return apply(runtime_, binary.op, left, right);
}

Result<Value> Interpreter::evaluate_compare(const Compare& compare) {
  TRY_ASSIGN(Value left, evaluate(*compare.first));
  for (const auto& [comparison, operand] : compare.rest) {
    TRY_ASSIGN(Value right, evaluate(*operand));
    TRY_ASSIGN(const bool holds, jinja::compare(runtime_, comparison, left, right));
    if (!holds) return false;
    left = std::move(right);
  }
  return true;
}

Result<Value> Interpreter::evaluate_item(const Item& item) {
  TRY_ASSIGN(const Value object, evaluate(*item.object));
  TRY_ASSIGN(const Value key, evaluate(*item.key));
  return get_item(runtime_, object, key);
}

Result<Value> Interpreter::evaluate_slice(const Slice& slice) {
  const auto bound = [this](const ExpressionPtr& expression) -> Result<Value> {
    if (expression == nullptr) return None{};
    return evaluate(*expression);
  };
  TRY_ASSIGN(const Value object, evaluate(*slice.object));
  TRY_ASSIGN(const Value start, bound(slice.start));
  TRY_ASSIGN(const Value stop, bound(slice.stop));
  TRY_ASSIGN(const Value step, bound(slice.step));
  return get_slice(runtime_, object, start, stop, step);
}

Result<Arguments> Interpreter::evaluate_arguments(const ArgumentList& list) {
  Arguments arguments;
  arguments.positional.reserve(list.positional.size());
  arguments.named.reserve(list.named.size());
  arguments.recount(runtime_.meter());
  for (const ExpressionPtr& argument : list.positional) {
    TRY_ASSIGN(Value value, evaluate(*argument));
    arguments.positional.push_back(std::move(value));
  }
  for (const auto& [name, argument] : list.named) {
    TRY_ASSIGN(Value value, evaluate(*argument));
    arguments.named.emplace_back(name, std::move(value));
  }
  if (list.more_positional != nullptr) {
    TRY_ASSIGN(const Value more, evaluate(*list.more_positional));
    TRY_ASSIGN(Collected collected, collect(runtime_, more));
    for (Value& item : collected.items) TRY(runtime_.push(arguments.positional, std::move(item)));
  }
  arguments.recount(runtime_.meter());
  if (list.more_named != nullptr) {
    TRY_ASSIGN(const Value more, evaluate(*list.more_named));
    TRY(append_named(arguments, more));
  }
  return arguments;
}

// What stands behind `**` in a call.
Status Interpreter::append_named(Arguments& arguments, const Value& more) {
  if (!more.is(Kind::kDict)) {
    return fail(ErrorCode::kInvalidArgument, "argument after ** must be a mapping, not {}", more.type_name());
  }
  for (const auto& [name, value] : more.dict().entries()) {
    if (!name.is_string()) return fail(ErrorCode::kInvalidArgument, "keywords must be strings");
    if (name.text().size() > kMaxKeywordBytes)
      return fail(ErrorCode::kInvalidArgument, "a keyword is longer than {} bytes", kMaxKeywordBytes);
    TRY(runtime_.push(arguments.named, {name.text().bytes(), value}));
  }
  arguments.recount(runtime_.meter());
  runtime_.charge(more.dict().size());
  return {};
}

Result<Value> Interpreter::evaluate_call(const Call& call, const Value* caller) {
  TRY_ASSIGN(const Value callee, evaluate(*call.callee));
  TRY_ASSIGN(Arguments arguments, evaluate_arguments(call.arguments));
  if (caller != nullptr) arguments.named.emplace_back("caller", *caller);
  if (callee.is_undefined()) return use_of_undefined(callee);
  if (!callee.is(Kind::kObject) || !callee.object().is_callable()) {
    return fail(ErrorCode::kInvalidArgument, "'{}' object is not callable", callee.type_name());
  }
  return callee.object().call(runtime_, arguments);
}

Result<Value> Interpreter::evaluate_filter(const Filter& filter) {
  Value subject;
  if (filter.subject != nullptr) {
    TRY_ASSIGN(subject, evaluate(*filter.subject));
  } else {
    subject = runtime_.string(*block_text_);
  }
  TRY_ASSIGN(const Arguments arguments, evaluate_arguments(filter.arguments));
  if (filter.function == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "no filter named {}", quote(filter.name));
  }
  return filter.function(runtime_, subject, arguments);
}

Result<Value> Interpreter::evaluate_test(const Test& test) {
  TRY_ASSIGN(const Value subject, evaluate(*test.subject));
  TRY_ASSIGN(const Arguments arguments, evaluate_arguments(test.arguments));
  if (test.function == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "no test named {}", quote(test.name));
  }
  TRY_ASSIGN(const bool passes, test.function(runtime_, subject, arguments));
  return passes;
}

}  // namespace tempo9::chat::jinja
