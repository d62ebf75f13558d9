// A parsed template. Immutable once resolve_scopes() has given every name its variable.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "chat/jinja/operators.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

// Where a variable lives: `slot` of the function `hops` levels out from the one that uses it. Functions are
// the template itself, macros, call blocks and recursive loops.
struct Variable {
  int hops = 0;
  int slot = -1;
};

enum class ExpressionKind {
  kConstant,
  kName,
  kTuple,
  kList,
  kDict,
  kConditional,
  kNot,
  kNegate,
  kPlus,
  kAnd,
  kOr,
  kBinary,
  kConcat,
  kCompare,
  kAttribute,
  kItem,
  kSlice,
  kCall,
  kFilter,
  kTest,
};

struct Expression {
  Expression(ExpressionKind expression_kind, int at_line) : kind(expression_kind), line(at_line) {}
  virtual ~Expression() = default;
  const ExpressionKind kind;
  const int line;
  int height = 1;  // of the tree below
};
using ExpressionPtr = std::unique_ptr<Expression>;

struct Constant : Expression {
  Constant(int at_line, Value constant)
      : Expression(ExpressionKind::kConstant, at_line), value(std::move(constant)) {}
  Value value;
};

struct Name : Expression {
  Name(int at_line, std::string identifier)
      : Expression(ExpressionKind::kName, at_line), name(std::move(identifier)) {}
  std::string name;
  Variable variable;
};

// Tuples, lists, and the operands of `~`, `and`, `or`, `not`, `-` and `+`.
struct Operands : Expression {
  using Expression::Expression;
  std::vector<ExpressionPtr> operands;
};

struct DictLiteral : Expression {
  explicit DictLiteral(int at_line) : Expression(ExpressionKind::kDict, at_line) {}
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};

// `then if test else otherwise`; without `otherwise` it may be undefined.
struct Conditional : Expression {
  explicit Conditional(int at_line) : Expression(ExpressionKind::kConditional, at_line) {}
  ExpressionPtr test, then, otherwise;
};

struct Binary : Expression {
  Binary(int at_line, BinaryOperator operation)
      : Expression(ExpressionKind::kBinary, at_line), op(operation) {}
  BinaryOperator op;
  ExpressionPtr left, right;
};

// `first < second <= third`: every operand is evaluated at most once.
struct Compare : Expression {
  explicit Compare(int at_line) : Expression(ExpressionKind::kCompare, at_line) {}
  ExpressionPtr first;
  std::vector<std::pair<Comparison, ExpressionPtr>> rest;
};

struct Attribute : Expression {
  explicit Attribute(int at_line) : Expression(ExpressionKind::kAttribute, at_line) {}
  ExpressionPtr object;
  std::string name;
};

struct Item : Expression {
  explicit Item(int at_line) : Expression(ExpressionKind::kItem, at_line) {}
  ExpressionPtr object, key;
};

struct Slice : Expression {
  explicit Slice(int at_line) : Expression(ExpressionKind::kSlice, at_line) {}
  ExpressionPtr object, start, stop, step;  // bounds may be null
};

struct ArgumentList {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr more_positional, more_named;  // `*these` and `**those`; may be null
};

struct Call : Expression {
  explicit Call(int at_line) : Expression(ExpressionKind::kCall, at_line) {}
  ExpressionPtr callee;
  ArgumentList arguments;
};

using FilterFunction = Result<Value> (*)(Runtime&, const Value& subject, const Arguments&);
using TestFunction = Result<bool> (*)(Runtime&, const Value& subject, const Arguments&);

struct Filter : Expression {
  explicit Filter(int at_line) : Expression(ExpressionKind::kFilter, at_line) {}
  ExpressionPtr subject;  // null in `{% filter … %}` and `{% set x | … %}`: the block's own text
  std::string name;
  FilterFunction function = nullptr;  // null: unknown, which fails if it is ever reached
  ArgumentList arguments;
};

struct Test : Expression {
  explicit Test(int at_line) : Expression(ExpressionKind::kTest, at_line) {}
  ExpressionPtr subject;
  std::string name;
  TestFunction function = nullptr;  // likewise
  ArgumentList arguments;
};

// What to do with a variable when its scope is entered.
struct Load {
  enum class Kind { kCopy, kResolve, kForget } kind;
  int slot;          // in the function that enters the scope
  Variable source;   // kCopy: the variable of an outer scope that this one hides
  std::string name;  // kResolve: looked up among the template's arguments and the globals
};
struct Scope {
  std::vector<Load> loads;
};

// What is assigned to: a name, `namespace.attribute`, or several of them.
struct Target {
  int line = 0;
  std::string name;       // empty for several
  std::string attribute;  // of a namespace; empty for a plain name
  Variable variable;
  std::vector<Target> parts;
};

enum class StatementKind {
  kData,
  kPrint,
  kIf,
  kFor,
  kSet,
  kSetBlock,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kWith,
  kGeneration,
  kBreak,
  kContinue,
};

struct Statement {
  Statement(StatementKind statement_kind, int at_line) : kind(statement_kind), line(at_line) {}
  virtual ~Statement() = default;
  const StatementKind kind;
  const int line;
};
using StatementPtr = std::unique_ptr<Statement>;
using Body = std::vector<StatementPtr>;

// Text of the template itself.
struct Data : Statement {
  Data(int at_line, std::string data) : Statement(StatementKind::kData, at_line), text(std::move(data)) {}
  std::string text;
};

struct Print : Statement {
  explicit Print(int at_line) : Statement(StatementKind::kPrint, at_line) {}
  ExpressionPtr value;
};

struct If : Statement {
  explicit If(int at_line) : Statement(StatementKind::kIf, at_line) {}
  std::vector<std::pair<ExpressionPtr, Body>> branches;
  Body otherwise;
};

struct For : Statement {
  explicit For(int at_line) : Statement(StatementKind::kFor, at_line) {}
  Target target;
  ExpressionPtr iterable;
  ExpressionPtr test;  // may be null
  bool recursive = false;
  Body body, otherwise;
  bool has_otherwise = false;
  Scope scope, test_scope, otherwise_scope;
  Target test_target;  // the target once more, as the test sees it
  Variable loop;       // the `loop` of the body; slot -1 if the body does not ask for it
  int slot_count = 0;  // of a recursive loop, which is a function
};

struct Set : Statement {
  explicit Set(int at_line) : Statement(StatementKind::kSet, at_line) {}
  Target target;
  ExpressionPtr value;
};

struct SetBlock : Statement {
  explicit SetBlock(int at_line) : Statement(StatementKind::kSetBlock, at_line) {}
  Target target;
  ExpressionPtr filter;  // may be null
  Body body;
  Scope scope;
};

// A macro, or what a call block hands to the macro it calls as `caller`.
struct Routine {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ExpressionPtr> defaults;  // of the last parameters
  Body body;
  Scope scope;
  std::vector<Variable> parameter_variables;
  Variable caller, keywords, varargs;  // slot -1 if the body does not ask for them
  int slot_count = 0;
};

struct Macro : Statement {
  explicit Macro(int at_line) : Statement(StatementKind::kMacro, at_line) {}
  Routine routine;
  Variable variable;
};

struct CallBlock : Statement {
  explicit CallBlock(int at_line) : Statement(StatementKind::kCallBlock, at_line) {}
  Routine routine;
  ExpressionPtr call;  // a Call
};

struct FilterBlock : Statement {
  explicit FilterBlock(int at_line) : Statement(StatementKind::kFilterBlock, at_line) {}
  ExpressionPtr filter;
  Body body;
  Scope scope;
};

struct With : Statement {
  explicit With(int at_line) : Statement(StatementKind::kWith, at_line) {}
  std::vector<std::pair<Target, ExpressionPtr>> variables;
  Body body;
  Scope scope;
};

// `{% generation %}`, which marks the model's words for training: here only a scope.
struct Generation : Statement {
  explicit Generation(int at_line) : Statement(StatementKind::kGeneration, at_line) {}
  Body body;
  Scope scope;
};

struct TemplateTree {
  Body body;
  Scope scope;
  int slot_count = 0;
};

}  // namespace tempo9::chat::jinja
