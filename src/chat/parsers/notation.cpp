#include "chat/parsers/notation.h"

#include <array>
#include <set>

#include "base/limits.h"
#include "chat/parsers/argument_types.h"
#include "chat/parsers/json_value.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

class EscapingSink final : public Sink {
 public:
  explicit EscapingSink(Sink& out) : out_(out) {}
  void put(std::string_view text) override {
    std::string escaped;
    for (const char c : text) append_escaped(escaped, c);
    out_.put(escaped);
  }

 private:
  Sink& out_;
};

// Behind a backslash, as Python has it: what is no escape is a backslash.
Reading<bool> read_python_escape(Source& in, Sink& out) {
  const bool json = co_await read_json_escape(in, out, nullptr);
  if (json) co_return true;
  const int c = co_await in.peek();
  if (c == 'u') co_return false;
  if (c == '\'') {
    in.take();
    out.put("'");
  } else if (c == '\n') {
    in.take();  // the line goes on
  } else {
    out.put("\\\\");
  }
  co_return true;
}

// A string in ' or ", or in three of them.
Reading<bool> read_quoted(Source& in, Sink& out, char quote) {
  in.take();
  std::string end(1, quote);
  const std::string two(2, quote);
  const bool triple = co_await read_literal(in, two);
  if (triple) end = std::string(3, quote);
  EscapingSink text(out);
  out.put("\"");
  for (;;) {
    const int c = co_await in.peek();
    if (c == Source::kEnd) co_return false;
    if (c == quote) {
      const bool ends = co_await read_literal(in, end);
      if (ends) break;
    }
    in.take();
    const char byte = static_cast<char>(c);
    if (byte == '\\') {
      const bool read = co_await read_python_escape(in, out);
      if (!read) co_return false;
    } else {
      text.put({&byte, 1});
    }
  }
  out.put("\"");
  co_return true;
}

Reading<bool> read_marked_text(Source& in, Sink& out, const std::string& quote) {
  EscapingSink text(out);
  out.put("\"");
  const int end = co_await read_until(in, text, {&quote, 1});
  out.put("\"");
  co_return end == 0;
}

// True: there was a string, and `read` says whether it came to its end.
Reading<bool> read_text(Source& in, Sink& out, const Notation& notation, bool& read) {
  bool marked = false;
  if (!notation.quote.empty()) marked = co_await read_literal(in, notation.quote);
  if (marked) {
    read = co_await read_marked_text(in, out, notation.quote);
    co_return true;
  }
  const int c = co_await in.peek();
  if (c != '"' && c != '\'') co_return false;
  read = co_await read_quoted(in, out, static_cast<char>(c));
  co_return true;
}

std::string_view json_word(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {{{"True", "true"},
                                                                                    {"False", "false"},
                                                                                    {"None", "null"},
                                                                                    {"true", "true"},
                                                                                    {"false", "false"},
                                                                                    {"null", "null"}}};
  for (const auto& [written, json] : kWords)
    if (written == word) return json;
  return is_json_number(word) ? word : std::string_view();
}

Reading<bool> read_word(Source& in, Sink& out, bool bare_words) {
  static constexpr int kSign = static_cast<unsigned char>(kControlSign);
  const auto in_word = [](int c) { return is_name_byte(c) || c == '+'; };
  const auto in_bare_text = [](int c) { return c != ',' && c != '}' && c != ']' && c != '\n' && c != kSign; };
  std::string word = co_await read_name(in, bare_words ? +in_bare_text : +in_word);
  while (!word.empty() && is_blank(word.back())) word.pop_back();
  const std::string_view json = json_word(word);
  if (json.empty() && (!bare_words || word.empty())) co_return false;
  out.put(json.empty() ? quote_json(word) : std::string(json));
  co_return true;
}

Reading<bool> read_list(Source& in, Sink& out, const Notation& notation, int depth, char end) {
  in.take();
  out.put("[");
  int c = co_await skip_blanks(in);
  for (bool first = true; c != end; first = false) {
    if (!first) {
      if (c != ',') co_return false;
      in.take();
      c = co_await skip_blanks(in);
      if (c == end) break;
      out.put(", ");
    }
    const bool read = co_await read_notation_value(in, out, notation, depth + 1);
    if (!read) co_return false;
    c = co_await skip_blanks(in);
  }
  in.take();
  out.put("]");
  co_return true;
}

// A key as a JSON string; empty if there is none.
Reading<std::string> read_key(Source& in, const Notation& notation) {
  StringSink key;
  bool read = false;
  const bool quoted = co_await read_text(in, key, notation, read);
  if (quoted) co_return read ? key.text() : std::string();
  if (!notation.bare_words) co_return std::string();
  std::string bare = co_await read_name(in, is_bare_key_byte);
  co_return bare.empty() ? bare : quote_json(bare);
}

unsigned types_of_key(const Tool* tool, const std::string& key) {
  if (tool == nullptr) return types::kAny;
  const Json name = Json::parse(key, nullptr, false);
  return name.is_string() ? allowed_types(*tool, name.get_ref<const std::string&>()) : types::kAny;
}

Reading<bool> read_entries(Source& in, Sink& out, const Notation& notation, int depth, const Tool* tool) {
  in.take();
  out.put("{");
  std::set<std::string> keys;
  int c = co_await skip_blanks(in);
  while (c != '}') {
    if (!keys.empty()) {
      if (c != ',') co_return false;
      in.take();
      c = co_await skip_blanks(in);
      if (c == '}') break;
      out.put(", ");
    }
    const std::string key = co_await read_key(in, notation);
    if (key.empty() || !keys.insert(key).second) co_return false;
    out.put(key);
    out.put(": ");
    c = co_await skip_blanks(in);
    if (c != ':') co_return false;
    in.take();
    co_await skip_blanks(in);
    bool read = false;
    if (tool != nullptr)
      read = co_await read_argument(in, out, notation, types_of_key(tool, key));
    else
      read = co_await read_notation_value(in, out, notation, depth + 1);
    if (!read) co_return false;
    c = co_await skip_blanks(in);
  }
  in.take();
  co_return true;
}

}  // namespace

Reading<bool> read_notation_value(Source& in, Sink& out, const Notation& notation, int depth) {
  if (depth > limits::kMaxJsonDepth) co_return false;
  bool read = false;
  const bool text = co_await read_text(in, out, notation, read);
  if (text) co_return read;
  const int c = co_await in.peek();
  if (c == '[') co_return co_await read_list(in, out, notation, depth, ']');
  if (c == '(' && !notation.bare_words) co_return co_await read_list(in, out, notation, depth, ')');
  if (c != '{') co_return co_await read_word(in, out, notation.bare_words);
  read = co_await read_entries(in, out, notation, depth, nullptr);
  if (read) out.put("}");
  co_return read;
}

Reading<bool> read_argument(Source& in, Sink& out, const Notation& notation, unsigned allowed) {
  const int c = co_await in.peek();
  const bool several = c == '{' || c == '[' || c == '(';
  const bool quoted = c == '"' || c == '\'' || c == '<' || c == static_cast<unsigned char>(kControlSign);
  if (allowed == types::kAny || several || (quoted && (allowed & types::kString) != 0))
    co_return co_await read_notation_value(in, out, notation);
  StringSink written;
  const bool read = co_await read_notation_value(in, written, notation);
  if (read) out.put(retype_value(written.text(), allowed));
  co_return read;
}

Reading<bool> read_notation_arguments(Source& in, Sink& out, const Notation& notation, const Tool* tool) {
  const int c = co_await in.peek();
  if (c != '{') co_return false;
  co_return co_await read_entries(in, out, notation, 0, tool);
}

}  // namespace tempo9::chat
