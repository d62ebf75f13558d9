#include "chat/jinja/parser.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <unordered_set>
#include <utility>

#include "chat/jinja/expression_parser.h"
#include "chat/jinja/lexer.h"
#include "chat/jinja/scopes.h"
#include "chat/jinja/token_stream.h"
#include "chat/jinja/unicode.h"

namespace tempo9::chat::jinja {
namespace {

class StatementParser {
 public:
  explicit StatementParser(std::vector<Token> tokens)
      : tokens_(std::move(tokens)), expressions_(tokens_, depth_) {}

  Result<Body> parse_all() { return parse_until({}); }

 private:
  // Statements up to `{% name` for one of the names, which stays the current token; without names up to the
  // end of the template.
  Result<Body> parse_until(std::initializer_list<std::string_view> names) {
    Body body;
    for (;;) {
      const int line = tokens_.line();
      if (tokens_.at(TokenKind::kData)) {
        body.push_back(std::make_unique<Data>(line, tokens_.current().text));
        tokens_.advance();
      } else if (tokens_.at(TokenKind::kPrintBegin)) {
        tokens_.advance();
        auto print = std::make_unique<Print>(line);
        TRY_ASSIGN(print->value, expressions_.parse_tuple());
        TRY(tokens_.expect(TokenKind::kPrintEnd, "the end of the print statement"));
        body.push_back(std::move(print));
      } else if (tokens_.at(TokenKind::kStatementBegin)) {
        tokens_.advance();
        if (std::ranges::any_of(names, [this](std::string_view name) { return tokens_.at_name(name); })) {
          return body;
        }
        TRY_ASSIGN(StatementPtr statement, parse_statement());
        body.push_back(std::move(statement));
        TRY(end_statement());
      } else {
        if (names.size() == 0) return body;
        return tokens_.fail_here("the template ends before '" + std::string(*(names.end() - 1)) + "'");
      }
    }
  }

  Status end_statement() { return tokens_.expect(TokenKind::kStatementEnd, "the end of the statement"); }

  // What stands between a statement's first tag and the tag that ends it or its part.
  Result<Body> parse_body(std::initializer_list<std::string_view> end_names) {
    tokens_.skip_operator(":");
    TRY(end_statement());
    return parse_until(end_names);
  }

  // The same, with the end tag's name passed.
  Result<Body> parse_whole_body(std::string_view end_name) {
    TRY_ASSIGN(Body body, parse_body({end_name}));
    tokens_.advance();
    return body;
  }

  Result<StatementPtr> parse_statement() {
    const NestingLevel level(depth_);
    TRY(level.check(tokens_));
    static constexpr std::pair<std::string_view, Result<StatementPtr> (StatementParser::*)(int)>
        kStatements[] = {
            {"if", &StatementParser::parse_if},
            {"for", &StatementParser::parse_for},
            {"set", &StatementParser::parse_set},
            {"macro", &StatementParser::parse_macro},
            {"call", &StatementParser::parse_call_block},
            {"filter", &StatementParser::parse_filter_block},
            {"with", &StatementParser::parse_with},
            {"print", &StatementParser::parse_print},
            {"generation", &StatementParser::parse_generation},
            {"break", &StatementParser::parse_break},
            {"continue", &StatementParser::parse_continue},
        };
    const int line = tokens_.line();
    TRY_ASSIGN(const std::string name, tokens_.take_name());
    for (const auto& [statement, parse] : kStatements) {
      if (statement == name) return (this->*parse)(line);
    }
    for (const std::string_view other : {"block", "extends", "include", "import", "from", "autoescape"}) {
      if (other == name) {
        return fail(ErrorCode::kUnsupported, "line {}: the statement '{}' is not supported", line, name);
      }
    }
    return TokenStream::fail_at(line, "unknown statement '" + name + "'");
  }

  Result<StatementPtr> parse_if(int line) {
    auto statement = std::make_unique<If>(line);
    for (;;) {
      TRY_ASSIGN(ExpressionPtr test, expressions_.parse_tuple(false));
      TRY_ASSIGN(Body body, parse_body({"elif", "else", "endif"}));
      statement->branches.emplace_back(std::move(test), std::move(body));
      if (tokens_.skip_name("elif")) continue;
      if (tokens_.skip_name("else")) {
        TRY_ASSIGN(statement->otherwise, parse_whole_body("endif"));
      } else {
        tokens_.advance();
      }
      return statement;
    }
  }

  Result<StatementPtr> parse_for(int line) {
    auto statement = std::make_unique<For>(line);
    TRY_ASSIGN(statement->target, parse_target(false));
    TRY(tokens_.expect_name("in"));
    TRY_ASSIGN(statement->iterable, expressions_.parse_tuple(false, false, "recursive"));
    if (tokens_.skip_name("if")) {
      TRY_ASSIGN(statement->test, expressions_.parse_expression());
      statement->test_target = statement->target;
    }
    statement->recursive = tokens_.skip_name("recursive");
    ++loops_;
    TRY_ASSIGN(statement->body, parse_body({"endfor", "else"}));
    --loops_;
    statement->has_otherwise = tokens_.at_name("else");
    tokens_.advance();
    if (statement->has_otherwise) {
      TRY_ASSIGN(statement->otherwise, parse_whole_body("endfor"));
    }
    return statement;
  }

  Result<StatementPtr> parse_set(int line) {
    TRY_ASSIGN(Target target, parse_target(true));
    if (tokens_.skip_operator("=")) {
      auto statement = std::make_unique<Set>(line);
      statement->target = std::move(target);
      TRY_ASSIGN(statement->value, expressions_.parse_tuple());
      return statement;
    }
    auto statement = std::make_unique<SetBlock>(line);
    statement->target = std::move(target);
    TRY_ASSIGN(statement->filter, expressions_.parse_filters(nullptr));
    TRY_ASSIGN(statement->body, parse_whole_body("endset"));
    return statement;
  }

  // A body that is a function of its own: `break` and `continue` do not reach out of it.
  Result<Body> parse_function_body(std::string_view end_name) {
    const int loops = std::exchange(loops_, 0);
    TRY_ASSIGN(Body body, parse_whole_body(end_name));
    loops_ = loops;
    return body;
  }

  Result<StatementPtr> parse_macro(int line) {
    auto statement = std::make_unique<Macro>(line);
    TRY_ASSIGN(statement->routine.name, tokens_.take_name());
    TRY(parse_parameters(statement->routine));
    TRY_ASSIGN(statement->routine.body, parse_function_body("endmacro"));
    return statement;
  }

  Status parse_parameters(Routine& routine) {
    TRY(tokens_.expect_operator("("));
    std::unordered_set<std::string> names;
    while (!tokens_.at_operator(")")) {
      if (!routine.parameters.empty()) TRY(tokens_.expect_operator(","));
      TRY_ASSIGN(std::string name, tokens_.take_name());
      if (!names.insert(name).second) {
        return tokens_.fail_here("the parameter '" + name + "' stands there twice");
      }
      routine.parameters.push_back(std::move(name));
      if (tokens_.skip_operator("=")) {
        TRY_ASSIGN(ExpressionPtr value, expressions_.parse_expression());
        routine.defaults.push_back(std::move(value));
      } else if (!routine.defaults.empty()) {
        return tokens_.fail_here("a parameter without a default follows one with a default");
      }
    }
    return tokens_.expect_operator(")");
  }

  Result<StatementPtr> parse_call_block(int line) {
    auto statement = std::make_unique<CallBlock>(line);
    if (tokens_.at_operator("(")) TRY(parse_parameters(statement->routine));
    TRY_ASSIGN(statement->call, expressions_.parse_expression());
    if (statement->call->kind != ExpressionKind::kCall)
      return TokenStream::fail_at(line, "a call was expected");
    TRY_ASSIGN(statement->routine.body, parse_function_body("endcall"));
    return statement;
  }

  Result<StatementPtr> parse_filter_block(int line) {
    auto statement = std::make_unique<FilterBlock>(line);
    TRY_ASSIGN(statement->filter, expressions_.parse_filters(nullptr, true));
    TRY_ASSIGN(statement->body, parse_whole_body("endfilter"));
    return statement;
  }

  Result<StatementPtr> parse_with(int line) {
    auto statement = std::make_unique<With>(line);
    while (!tokens_.at(TokenKind::kStatementEnd)) {
      if (!statement->variables.empty()) TRY(tokens_.expect_operator(","));
      Target target;
      TRY_ASSIGN(target, parse_one_target(false));
      TRY(tokens_.expect_operator("="));
      TRY_ASSIGN(ExpressionPtr value, expressions_.parse_expression());
      statement->variables.emplace_back(std::move(target), std::move(value));
    }
    TRY_ASSIGN(statement->body, parse_whole_body("endwith"));
    return statement;
  }

  Result<StatementPtr> parse_print(int line) {
    auto statement = std::make_unique<Print>(line);
    TRY_ASSIGN(statement->value, expressions_.parse_expression());
    return statement;
  }

  Result<StatementPtr> parse_generation(int line) {
    auto statement = std::make_unique<Generation>(line);
    TRY_ASSIGN(statement->body, parse_function_body("endgeneration"));
    return statement;
  }

  Result<StatementPtr> parse_jump(int line, StatementKind kind, std::string_view name) {
    if (loops_ == 0) return TokenStream::fail_at(line, "'" + std::string(name) + "' outside a loop");
    return std::make_unique<Statement>(kind, line);
  }
  Result<StatementPtr> parse_break(int line) { return parse_jump(line, StatementKind::kBreak, "break"); }
  Result<StatementPtr> parse_continue(int line) {
    return parse_jump(line, StatementKind::kContinue, "continue");
  }

  // One target, or several with commas between them.
  Result<Target> parse_target(bool with_namespace) {
    const int line = tokens_.line();
    TRY_ASSIGN(Target first, parse_one_target(with_namespace));
    if (!tokens_.at_operator(",")) return first;
    Target several;
    several.line = line;
    several.parts.push_back(std::move(first));
    while (tokens_.skip_operator(",")) {
      if (tokens_.at_operator("=") || tokens_.at_name("in") || tokens_.at_operator(")")) break;
      TRY_ASSIGN(Target next, parse_one_target(with_namespace));
      several.parts.push_back(std::move(next));
    }
    return several;
  }

  Result<Target> parse_one_target(bool with_namespace) {
    const NestingLevel level(depth_);
    TRY(level.check(tokens_));
    if (tokens_.skip_operator("(")) {
      TRY_ASSIGN(Target inner, parse_target(false));
      TRY(tokens_.expect_operator(")"));
      return inner;
    }
    Target target;
    target.line = tokens_.line();
    TRY_ASSIGN(target.name, tokens_.take_name());
    for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
      if (target.name == constant) return tokens_.fail_here("can't assign to '" + target.name + "'");
    }
    if (with_namespace && tokens_.skip_operator(".")) {
      TRY_ASSIGN(target.attribute, tokens_.take_name());
    }
    return target;
  }

  TokenStream tokens_;
  int depth_ = 0;
  int loops_ = 0;  // around the current statement, within its function
  ExpressionParser expressions_;
};

}  // namespace

Result<TemplateTree> parse_template(std::string_view source) {
  if (source.size() > limits::kMaxTemplateSourceBytes) {
    return fail(ErrorCode::kInvalidArgument, "the template is longer than {} bytes",
                limits::kMaxTemplateSourceBytes);
  }
  if (!unicode::is_valid(source)) return fail(ErrorCode::kInvalidArgument, "the template is not valid UTF-8");
  TRY_ASSIGN(std::vector<Token> tokens, tokenize(source));
  TemplateTree tree;
  TRY_ASSIGN(tree.body, StatementParser(std::move(tokens)).parse_all());
  TRY(resolve_scopes(tree));
  return tree;
}

}  // namespace tempo9::chat::jinja
