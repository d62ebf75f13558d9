#include "chat/jinja/expression_parser.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace tempo9::chat::jinja {
namespace {

struct OperatorName {
  std::string_view text;
  BinaryOperator op;
};
constexpr std::array kSums = {OperatorName{"+", BinaryOperator::kAdd},
                              OperatorName{"-", BinaryOperator::kSubtract}};
constexpr std::array kProducts = {
    OperatorName{"*", BinaryOperator::kMultiply}, OperatorName{"/", BinaryOperator::kDivide},
    OperatorName{"//", BinaryOperator::kFloorDivide}, OperatorName{"%", BinaryOperator::kModulo}};
constexpr std::array kPowers = {OperatorName{"**", BinaryOperator::kPower}};

struct ComparisonName {
  std::string_view text;
  Comparison comparison;
};
constexpr ComparisonName kComparisons[] = {{"==", Comparison::kEqual},  {"!=", Comparison::kNotEqual},
                                           {"<", Comparison::kLess},    {"<=", Comparison::kLessEqual},
                                           {">", Comparison::kGreater}, {">=", Comparison::kGreaterEqual}};

bool at_tuple_end(const TokenStream& tokens, std::string_view end_name) {
  return tokens.at(TokenKind::kPrintEnd) || tokens.at(TokenKind::kStatementEnd) || tokens.at_operator(")") ||
         (!end_name.empty() && tokens.at_name(end_name));
}

}  // namespace

Status ExpressionParser::adopt(Expression& parent, const ExpressionPtr& child) const {
  parent.height = std::max(parent.height, child->height + 1);
  if (parent.height <= limits::kMaxTemplateNesting) return {};
  return fail(ErrorCode::kInvalidArgument, "line {}: an expression is nested deeper than {} levels",
              parent.line, limits::kMaxTemplateNesting);
}

Result<ExpressionPtr> ExpressionParser::parse_expression() {
  const NestingLevel level(depth_);
  TRY(level.check(tokens_));
  TRY_ASSIGN(ExpressionPtr expression, parse_or());
  while (tokens_.at_name("if")) {
    auto conditional = std::make_unique<Conditional>(tokens_.line());
    tokens_.advance();
    TRY_ASSIGN(conditional->test, parse_or());
    TRY(adopt(*conditional, expression));
    TRY(adopt(*conditional, conditional->test));
    conditional->then = std::move(expression);
    if (tokens_.skip_name("else")) {
      TRY_ASSIGN(conditional->otherwise, parse_expression());
      TRY(adopt(*conditional, conditional->otherwise));
    }
    expression = std::move(conditional);
  }
  return expression;
}

Result<ExpressionPtr> ExpressionParser::parse_tuple(bool conditionals, bool parenthesized,
                                                    std::string_view end_name) {
  auto tuple = std::make_unique<Operands>(ExpressionKind::kTuple, tokens_.line());
  bool several = false;
  while (!at_tuple_end(tokens_, end_name)) {
    TRY_ASSIGN(ExpressionPtr item, conditionals ? parse_expression() : parse_or());
    TRY(adopt(*tuple, item));
    tuple->operands.push_back(std::move(item));
    if (!tokens_.skip_operator(",")) break;
    several = true;
  }
  if (several) return tuple;
  if (!tuple->operands.empty()) return std::move(tuple->operands[0]);
  if (parenthesized) return tuple;
  return tokens_.fail_expected("an expression");
}

Result<ExpressionPtr> ExpressionParser::parse_logical(Operand operand, std::string_view word,
                                                      ExpressionKind kind) {
  const int line = tokens_.line();
  TRY_ASSIGN(ExpressionPtr first, (this->*operand)());
  if (!tokens_.at_name(word)) return first;
  auto logical = std::make_unique<Operands>(kind, line);
  TRY(adopt(*logical, first));
  logical->operands.push_back(std::move(first));
  while (tokens_.skip_name(word)) {
    TRY_ASSIGN(ExpressionPtr next, (this->*operand)());
    TRY(adopt(*logical, next));
    logical->operands.push_back(std::move(next));
  }
  return logical;
}

Result<ExpressionPtr> ExpressionParser::parse_or() {
  return parse_logical(&ExpressionParser::parse_and, "or", ExpressionKind::kOr);
}

Result<ExpressionPtr> ExpressionParser::parse_and() {
  return parse_logical(&ExpressionParser::parse_not, "and", ExpressionKind::kAnd);
}

Result<ExpressionPtr> ExpressionParser::parse_not() {
  if (!tokens_.at_name("not")) return parse_comparison();
  const NestingLevel level(depth_);
  TRY(level.check(tokens_));
  auto negation = std::make_unique<Operands>(ExpressionKind::kNot, tokens_.line());
  tokens_.advance();
  TRY_ASSIGN(ExpressionPtr operand, parse_not());
  TRY(adopt(*negation, operand));
  negation->operands.push_back(std::move(operand));
  return negation;
}

Result<ExpressionPtr> ExpressionParser::parse_comparison() {
  auto compare = std::make_unique<Compare>(tokens_.line());
  TRY_ASSIGN(compare->first, parse_sum());
  for (;;) {
    std::optional<Comparison> comparison;
    const auto* symbol = std::ranges::find_if(
        kComparisons, [this](const ComparisonName& name) { return tokens_.at_operator(name.text); });
    if (symbol != std::end(kComparisons)) {
      comparison = symbol->comparison;
    } else if (tokens_.at_name("in")) {
      comparison = Comparison::kIn;
    } else if (tokens_.at_name("not") && TokenStream::is(tokens_.following(), TokenKind::kName, "in")) {
      comparison = Comparison::kNotIn;
      tokens_.advance();
    }
    if (!comparison) break;
    tokens_.advance();
    TRY_ASSIGN(ExpressionPtr operand, parse_sum());
    TRY(adopt(*compare, operand));
    compare->rest.emplace_back(*comparison, std::move(operand));
  }
  if (compare->rest.empty()) return std::move(compare->first);
  TRY(adopt(*compare, compare->first));
  return compare;
}

template <class Table>
Result<ExpressionPtr> ExpressionParser::parse_binary(Operand operand, const Table& operators) {
  TRY_ASSIGN(ExpressionPtr left, (this->*operand)());
  for (;;) {
    const auto found = std::ranges::find_if(
        operators, [this](const OperatorName& name) { return tokens_.at_operator(name.text); });
    if (found == std::end(operators)) return left;
    auto binary = std::make_unique<Binary>(tokens_.line(), found->op);
    tokens_.advance();
    TRY_ASSIGN(binary->right, (this->*operand)());
    TRY(adopt(*binary, left));
    TRY(adopt(*binary, binary->right));
    binary->left = std::move(left);
    left = std::move(binary);
  }
}

Result<ExpressionPtr> ExpressionParser::parse_sum() {
  return parse_binary(&ExpressionParser::parse_concat, kSums);
}

Result<ExpressionPtr> ExpressionParser::parse_concat() {
  auto concat = std::make_unique<Operands>(ExpressionKind::kConcat, tokens_.line());
  do {
    TRY_ASSIGN(ExpressionPtr operand, parse_product());
    TRY(adopt(*concat, operand));
    concat->operands.push_back(std::move(operand));
  } while (tokens_.skip_operator("~"));
  if (concat->operands.size() == 1) return std::move(concat->operands[0]);
  return concat;
}

Result<ExpressionPtr> ExpressionParser::parse_product() {
  return parse_binary(&ExpressionParser::parse_power, kProducts);
}

Result<ExpressionPtr> ExpressionParser::parse_power() {
  return parse_binary(&ExpressionParser::parse_operand, kPowers);
}

Result<ExpressionPtr> ExpressionParser::parse_signed(bool with_filters) {
  ExpressionPtr expression;
  if (tokens_.at_operator("-") || tokens_.at_operator("+")) {
    const NestingLevel level(depth_);
    TRY(level.check(tokens_));
    const auto kind = tokens_.at_operator("-") ? ExpressionKind::kNegate : ExpressionKind::kPlus;
    auto sign = std::make_unique<Operands>(kind, tokens_.line());
    tokens_.advance();
    TRY_ASSIGN(ExpressionPtr operand, parse_signed(false));
    TRY(adopt(*sign, operand));
    sign->operands.push_back(std::move(operand));
    expression = std::move(sign);
  } else {
    TRY_ASSIGN(expression, parse_primary());
  }
  TRY_ASSIGN(expression, parse_postfix(std::move(expression)));
  if (!with_filters) return expression;
  return parse_filters_and_tests(std::move(expression));
}

}  // namespace tempo9::chat::jinja
