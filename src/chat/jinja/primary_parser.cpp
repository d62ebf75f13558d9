// The parts of an expression that bind tightest: names, literals, `.`, `[]`, calls, filters and tests.
#include <array>
#include <string>
#include <unordered_set>

#include "chat/jinja/expression_parser.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/tests.h"

namespace tempo9::chat::jinja {

Result<ExpressionPtr> ExpressionParser::parse_primary() {
  const int line = tokens_.line();
  switch (tokens_.current().kind) {
    case TokenKind::kName:
      return parse_name();
    case TokenKind::kString:
      return parse_string();
    case TokenKind::kInteger: {
      ExpressionPtr constant = std::make_unique<Constant>(line, tokens_.current().integer);
      tokens_.advance();
      return constant;
    }
    case TokenKind::kFloat: {
      ExpressionPtr constant = std::make_unique<Constant>(line, tokens_.current().number);
      tokens_.advance();
      return constant;
    }
    default:
      break;
  }
  if (tokens_.skip_operator("(")) {
    TRY_ASSIGN(ExpressionPtr inner, parse_tuple(true, true));
    TRY(tokens_.expect_operator(")"));
    return inner;
  }
  if (tokens_.at_operator("[")) return parse_list();
  if (tokens_.at_operator("{")) return parse_dict();
  return tokens_.fail_expected("an expression");
}

Result<ExpressionPtr> ExpressionParser::parse_name() {
  const int line = tokens_.line();
  std::string name = tokens_.current().text;
  tokens_.advance();
  if (name == "true" || name == "True") return std::make_unique<Constant>(line, true);
  if (name == "false" || name == "False") return std::make_unique<Constant>(line, false);
  if (name == "none" || name == "None") return std::make_unique<Constant>(line, None{});
  return std::make_unique<Name>(line, std::move(name));
}

Result<ExpressionPtr> ExpressionParser::parse_string() {
  const int line = tokens_.line();
  std::string text;
  for (; tokens_.at(TokenKind::kString); tokens_.advance()) text += tokens_.current().text;
  return std::make_unique<Constant>(line, make_constant(Text(std::move(text))));
}

Result<ExpressionPtr> ExpressionParser::parse_list() {
  auto list = std::make_unique<Operands>(ExpressionKind::kList, tokens_.line());
  tokens_.advance();
  while (!tokens_.at_operator("]")) {
    TRY_ASSIGN(ExpressionPtr item, parse_expression());
    TRY(adopt(*list, item));
    list->operands.push_back(std::move(item));
    if (!tokens_.skip_operator(",")) break;
  }
  TRY(tokens_.expect_operator("]"));
  return list;
}

Result<ExpressionPtr> ExpressionParser::parse_dict() {
  auto dict = std::make_unique<DictLiteral>(tokens_.line());
  tokens_.advance();
  while (!tokens_.at_operator("}")) {
    TRY_ASSIGN(ExpressionPtr key, parse_expression());
    TRY(tokens_.expect_operator(":"));
    TRY_ASSIGN(ExpressionPtr value, parse_expression());
    TRY(adopt(*dict, key));
    TRY(adopt(*dict, value));
    dict->entries.emplace_back(std::move(key), std::move(value));
    if (!tokens_.skip_operator(",")) break;
  }
  TRY(tokens_.expect_operator("}"));
  return dict;
}

Result<ExpressionPtr> ExpressionParser::parse_postfix(ExpressionPtr expression) {
  for (;;) {
    if (tokens_.at_operator(".")) {
      TRY_ASSIGN(expression, parse_attribute(std::move(expression)));
    } else if (tokens_.at_operator("[")) {
      TRY_ASSIGN(expression, parse_subscript(std::move(expression)));
    } else if (tokens_.at_operator("(")) {
      TRY_ASSIGN(expression, parse_call(std::move(expression)));
    } else {
      return expression;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::parse_filters_and_tests(ExpressionPtr expression) {
  for (;;) {
    if (tokens_.skip_operator("|")) {
      TRY_ASSIGN(expression, parse_filter(std::move(expression)));
    } else if (tokens_.skip_name("is")) {
      TRY_ASSIGN(expression, parse_test(std::move(expression)));
    } else if (tokens_.at_operator("(")) {
      TRY_ASSIGN(expression, parse_call(std::move(expression)));
    } else {
      return expression;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::parse_attribute(ExpressionPtr object) {
  const int line = tokens_.line();
  tokens_.advance();
  if (tokens_.at(TokenKind::kInteger)) {
    auto item = std::make_unique<Item>(line);
    item->key = std::make_unique<Constant>(line, tokens_.current().integer);
    tokens_.advance();
    TRY(adopt(*item, object));
    item->object = std::move(object);
    return item;
  }
  auto attribute = std::make_unique<Attribute>(line);
  TRY_ASSIGN(attribute->name, tokens_.take_name());
  TRY(adopt(*attribute, object));
  attribute->object = std::move(object);
  return attribute;
}

Result<ExpressionPtr> ExpressionParser::parse_subscript(ExpressionPtr object) {
  const int line = tokens_.line();
  tokens_.advance();
  std::array<ExpressionPtr, 3> parts;
  size_t colons = 0;
  while (!tokens_.at_operator("]") && !tokens_.at_operator(",")) {
    if (colons < 2 && tokens_.skip_operator(":")) {
      ++colons;
      continue;
    }
    if (parts[colons] != nullptr) return tokens_.fail_expected("']'");
    TRY_ASSIGN(parts[colons], parse_expression());
  }
  if (colons > 0) {
    TRY(tokens_.expect_operator("]"));
    auto slice = std::make_unique<Slice>(line);
    TRY(adopt(*slice, object));
    for (const ExpressionPtr& part : parts) {
      if (part != nullptr) TRY(adopt(*slice, part));
    }
    slice->object = std::move(object);
    slice->start = std::move(parts[0]);
    slice->stop = std::move(parts[1]);
    slice->step = std::move(parts[2]);
    return slice;
  }
  if (parts[0] == nullptr) return tokens_.fail_expected("an expression");
  auto item = std::make_unique<Item>(line);
  item->key = std::move(parts[0]);
  if (tokens_.at_operator(",")) {
    auto tuple = std::make_unique<Operands>(ExpressionKind::kTuple, line);
    TRY(adopt(*tuple, item->key));
    tuple->operands.push_back(std::move(item->key));
    while (tokens_.skip_operator(",") && !tokens_.at_operator("]")) {
      TRY_ASSIGN(ExpressionPtr key, parse_expression());
      TRY(adopt(*tuple, key));
      tuple->operands.push_back(std::move(key));
    }
    item->key = std::move(tuple);
  }
  TRY(tokens_.expect_operator("]"));
  TRY(adopt(*item, object));
  TRY(adopt(*item, item->key));
  item->object = std::move(object);
  return item;
}

Result<ExpressionPtr> ExpressionParser::parse_call(ExpressionPtr callee) {
  auto call = std::make_unique<Call>(tokens_.line());
  TRY(adopt(*call, callee));
  call->callee = std::move(callee);
  TRY_ASSIGN(call->arguments, parse_arguments(*call));
  return call;
}

Result<ArgumentList> ExpressionParser::parse_arguments(Expression& owner) {
  TRY(tokens_.expect_operator("("));
  ArgumentList list;
  std::unordered_set<std::string> names;
  while (!tokens_.at_operator(")")) {
    const bool is_named =
        tokens_.at(TokenKind::kName) && TokenStream::is(tokens_.following(), TokenKind::kOperator, "=");
    const bool positional_over =
        !list.named.empty() || list.more_positional != nullptr || list.more_named != nullptr;
    if (tokens_.at_operator("*") || tokens_.at_operator("**")) {
      ExpressionPtr& more = tokens_.at_operator("*") ? list.more_positional : list.more_named;
      if (more != nullptr || list.more_named != nullptr)
        return tokens_.fail_here("too many starred arguments");
      tokens_.advance();
      TRY_ASSIGN(more, parse_expression());
      TRY(adopt(owner, more));
    } else if (is_named) {
      if (list.more_named != nullptr) return tokens_.fail_here("a named argument follows '**'");
      TRY_ASSIGN(std::string name, tokens_.take_name());
      tokens_.advance();
      if (!names.insert(name).second) return tokens_.fail_here("keyword argument repeated: " + name);
      TRY_ASSIGN(ExpressionPtr value, parse_expression());
      TRY(adopt(owner, value));
      list.named.emplace_back(std::move(name), std::move(value));
    } else {
      if (positional_over) return tokens_.fail_here("a positional argument follows a named or starred one");
      TRY_ASSIGN(ExpressionPtr value, parse_expression());
      TRY(adopt(owner, value));
      list.positional.push_back(std::move(value));
    }
    if (!tokens_.skip_operator(",")) break;
  }
  TRY(tokens_.expect_operator(")"));
  return list;
}

Result<ExpressionPtr> ExpressionParser::parse_filters(ExpressionPtr subject, bool inline_name) {
  if (inline_name) {
    TRY_ASSIGN(subject, parse_filter(std::move(subject)));
  }
  while (tokens_.skip_operator("|")) {
    TRY_ASSIGN(subject, parse_filter(std::move(subject)));
  }
  return subject;
}

Result<std::string> ExpressionParser::parse_dotted_name() {
  TRY_ASSIGN(std::string name, tokens_.take_name());
  while (tokens_.skip_operator(".")) {
    TRY_ASSIGN(const std::string part, tokens_.take_name());
    name += "." + part;
  }
  return name;
}

Result<ExpressionPtr> ExpressionParser::parse_filter(ExpressionPtr subject) {
  auto filter = std::make_unique<Filter>(tokens_.line());
  TRY_ASSIGN(filter->name, parse_dotted_name());
  filter->function = find_filter(filter->name);
  if (subject != nullptr) TRY(adopt(*filter, subject));
  filter->subject = std::move(subject);
  if (tokens_.at_operator("(")) {
    TRY_ASSIGN(filter->arguments, parse_arguments(*filter));
  }
  return filter;
}

Result<ExpressionPtr> ExpressionParser::parse_test(ExpressionPtr subject) {
  auto test = std::make_unique<Test>(tokens_.line());
  const bool negated = tokens_.skip_name("not");
  TRY_ASSIGN(test->name, parse_dotted_name());
  test->function = find_test(test->name);
  TRY(adopt(*test, subject));
  test->subject = std::move(subject);
  const bool word_follows = tokens_.at_name("else") || tokens_.at_name("or") || tokens_.at_name("and");
  if (tokens_.at_operator("(")) {
    TRY_ASSIGN(test->arguments, parse_arguments(*test));
  } else if ((tokens_.at(TokenKind::kName) && !word_follows) || tokens_.at(TokenKind::kString) ||
             tokens_.at(TokenKind::kInteger) || tokens_.at(TokenKind::kFloat) || tokens_.at_operator("[") ||
             tokens_.at_operator("{")) {
    if (tokens_.at_name("is")) return tokens_.fail_here("tests cannot be chained with 'is'");
    TRY_ASSIGN(ExpressionPtr argument, parse_primary());
    TRY_ASSIGN(argument, parse_postfix(std::move(argument)));
    TRY(adopt(*test, argument));
    test->arguments.positional.push_back(std::move(argument));
  }
  if (!negated) return test;
  auto negation = std::make_unique<Operands>(ExpressionKind::kNot, test->line);
  ExpressionPtr operand = std::move(test);
  TRY(adopt(*negation, operand));
  negation->operands.push_back(std::move(operand));
  return negation;
}

}  // namespace tempo9::chat::jinja
