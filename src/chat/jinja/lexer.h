// Template source to tokens, with Jinja's rules for white space as chat templates are compiled: a line break
// behind a statement goes (trim_blocks), so does white space before a statement on its line (lstrip_blocks),
// and one line break at the end of the source.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/jinja/value.h"

namespace tempo9::chat::jinja {

enum class TokenKind {
  kData,  // text between the tags
  kStatementBegin,
  kStatementEnd,
  kPrintBegin,
  kPrintEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind;
  int line;
  std::string text;     // of data, a name or an operator; a string's value
  Integer integer = 0;  // kInteger
  double number = 0;    // kFloat
};

// The last token is kEnd. Failures begin with "line N: ".
Result<std::vector<Token>> tokenize(std::string_view source);

}  // namespace tempo9::chat::jinja
