#include "chat/jinja/token_stream.h"

namespace tempo9::chat::jinja {

std::string TokenStream::describe() const {
  switch (current().kind) {
    case TokenKind::kData:
      return "text";
    case TokenKind::kStatementBegin:
      return "'{%'";
    case TokenKind::kStatementEnd:
      return "the end of the statement";
    case TokenKind::kPrintBegin:
      return "'{{'";
    case TokenKind::kPrintEnd:
      return "the end of the print statement";
    case TokenKind::kName:
    case TokenKind::kOperator:
      return "'" + current().text + "'";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return "a number";
    case TokenKind::kEnd:
      return "the end of the template";
  }
  return {};
}

}  // namespace tempo9::chat::jinja
