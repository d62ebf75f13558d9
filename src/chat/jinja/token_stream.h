// The parser's view of the tokens.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "chat/jinja/lexer.h"

namespace tempo9::chat::jinja {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& following() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  int line() const { return current().line; }
  bool at(TokenKind kind) const { return current().kind == kind; }
  bool at_operator(std::string_view op) const { return is(current(), TokenKind::kOperator, op); }
  bool at_name(std::string_view name) const { return is(current(), TokenKind::kName, name); }
  static bool is(const Token& token, TokenKind kind, std::string_view text) {
    return token.kind == kind && token.text == text;
  }

  // The end token is never passed.
  void advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  bool skip_operator(std::string_view op) { return skip_if(at_operator(op)); }
  bool skip_name(std::string_view name) { return skip_if(at_name(name)); }
  Status expect_operator(std::string_view op) { return expect(skip_operator(op), op); }
  Status expect_name(std::string_view name) { return expect(skip_name(name), name); }
  Status expect(TokenKind kind, std::string_view description) {
    return expect(skip_if(at(kind)), description);
  }
  Result<std::string> take_name() {
    if (!at(TokenKind::kName)) return fail_expected("a name");
    std::string name = current().text;
    advance();
    return name;
  }

  tl::unexpected<Error> fail_here(std::string_view message) const { return fail_at(line(), message); }
  static tl::unexpected<Error> fail_at(int line, std::string_view message) {
    return fail(ErrorCode::kInvalidArgument, "line {}: {}", line, message);
  }
  tl::unexpected<Error> fail_expected(std::string_view what) const {
    return fail(ErrorCode::kInvalidArgument, "line {}: {} was expected, not {}", line(), what, describe());
  }

 private:
  bool skip_if(bool condition) {
    if (condition) advance();
    return condition;
  }
  Status expect(bool skipped, std::string_view what) {
    if (!skipped) return fail_expected(what);
    return {};
  }
  std::string describe() const;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

// A level of nesting while parsing: expressions and statements within each other.
class NestingLevel {
 public:
  explicit NestingLevel(int& depth) : depth_(depth) { ++depth_; }
  ~NestingLevel() { --depth_; }
  NestingLevel(const NestingLevel&) = delete;
  NestingLevel& operator=(const NestingLevel&) = delete;
  Status check(const TokenStream& tokens) const {
    if (depth_ <= limits::kMaxTemplateNesting) return {};
    return fail(ErrorCode::kInvalidArgument, "line {}: the template is nested deeper than {} levels",
                tokens.line(), limits::kMaxTemplateNesting);
  }

 private:
  int& depth_;
};

}  // namespace tempo9::chat::jinja
