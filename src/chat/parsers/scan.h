// Small parts of parsers that styles share.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "chat/parsers/answer.h"
#include "chat/parsers/sink.h"
#include "chat/parsers/source.h"

namespace tempo9::chat {

inline bool is_blank(int c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// What names of functions are made of, in styles that do not quote them.
inline bool is_name_byte(int c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ':' || c == '/' ||
         (c >= 0x80 && c != static_cast<unsigned char>(kControlSign));
}

// Likewise keys without quotes.
inline bool is_bare_key_byte(int c) {
  return is_name_byte(c) && c != ':';
}

// Gives the byte behind the white space, as peek() does.
Reading<int> skip_blanks(Source& in);

// Takes `literal`, or nothing.
Reading<bool> read_literal(Source& in, std::string_view literal);

// Bytes that satisfy `belongs`, at most limits::kMaxCallNameBytes.
Reading<std::string> read_name(Source& in, bool (*belongs)(int));

// Passes text on to `out` up to one of `stops`, which is taken; which one, or -1 at the end of the reply. Of
// two that begin alike none may be the beginning of the other.
Reading<int> read_until(Source& in, Sink& out, std::span<const std::string> stops);

// Follows Markdown: whether a place in a text is within a code span or a fenced block.
class CodeQuotes {
 public:
  void see(char c);
  bool quoting();

 private:
  void end_run();
  int run_ = 0;  // backticks in a row
  bool line_begins_ = true, span_ = false, fence_ = false;
};

// Passes the answer's text on up to `marker`, which is taken; false at the end of the reply. Plain text is no
// marker where it is quoted as code.
Reading<bool> pass_text(Source& in, Answer& out, std::string_view marker, CodeQuotes& quotes);

// Passes on all there is.
Reading<bool> pass_rest(Source& in, Answer& out);

// `c` as it stands within a JSON string.
void append_escaped(std::string& to, char c);
std::string quote_json(std::string_view text);

}  // namespace tempo9::chat
