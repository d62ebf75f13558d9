// Expressions, with Jinja's grammar and precedence: a conditional binds least, then or, and, not,
// comparisons,
// + -, ~, * / // %, **, unary, and last filters and tests.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "chat/jinja/ast.h"
#include "chat/jinja/token_stream.h"

namespace tempo9::chat::jinja {

class ExpressionParser {
 public:
  // `depth` counts the levels of nesting of the whole template.
  ExpressionParser(TokenStream& tokens, int& depth) : tokens_(tokens), depth_(depth) {}

  Result<ExpressionPtr> parse_expression();
  // Several expressions with commas between them are a tuple. Without `conditionals` an `if` ends it.
  Result<ExpressionPtr> parse_tuple(bool conditionals = true, bool parenthesized = false,
                                    std::string_view end_name = {});
  // The filters that follow: `| a | b(c)`, applied to `subject` (null: the text of a block). With
  // `inline_name` the first filter's name stands here without a bar.
  Result<ExpressionPtr> parse_filters(ExpressionPtr subject, bool inline_name = false);

 private:
  Result<ExpressionPtr> parse_or();
  Result<ExpressionPtr> parse_and();
  Result<ExpressionPtr> parse_not();
  Result<ExpressionPtr> parse_comparison();
  Result<ExpressionPtr> parse_sum();
  Result<ExpressionPtr> parse_concat();
  Result<ExpressionPtr> parse_product();
  Result<ExpressionPtr> parse_power();
  Result<ExpressionPtr> parse_operand() { return parse_signed(true); }
  Result<ExpressionPtr> parse_signed(bool with_filters);
  Result<ExpressionPtr> parse_primary();
  Result<ExpressionPtr> parse_name();
  Result<ExpressionPtr> parse_string();
  Result<ExpressionPtr> parse_list();
  Result<ExpressionPtr> parse_dict();
  Result<ExpressionPtr> parse_postfix(ExpressionPtr expression);
  Result<ExpressionPtr> parse_filters_and_tests(ExpressionPtr expression);
  Result<ExpressionPtr> parse_attribute(ExpressionPtr object);
  Result<ExpressionPtr> parse_subscript(ExpressionPtr object);
  Result<ExpressionPtr> parse_call(ExpressionPtr callee);
  Result<ExpressionPtr> parse_filter(ExpressionPtr subject);
  Result<ExpressionPtr> parse_test(ExpressionPtr subject);
  Result<std::string> parse_dotted_name();
  Result<ArgumentList> parse_arguments(Expression& owner);

  using Operand = Result<ExpressionPtr> (ExpressionParser::*)();
  template <class Table>
  Result<ExpressionPtr> parse_binary(Operand operand, const Table& operators);
  Result<ExpressionPtr> parse_logical(Operand operand, std::string_view word, ExpressionKind kind);
  // Makes `child` a child of `parent` for the height of the tree, which is bounded.
  Status adopt(Expression& parent, const ExpressionPtr& child) const;

  TokenStream& tokens_;
  int& depth_;
};

}  // namespace tempo9::chat::jinja
