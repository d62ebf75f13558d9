#include "chat/parsers/json_value.h"

#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/limits.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

Reading<int> pass_blanks(Source& in, Sink& out) {
  for (;;) {
    const int c = co_await in.peek();
    if (!is_blank(c)) co_return c;
    in.take();
    const char byte = static_cast<char>(c);
    out.put({&byte, 1});
  }
}

void append_utf8(std::string& to, int code) {
  const auto put = [&](int byte) { to += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

int hex_digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Four digits to a number; -1 if they are none. `raw` gets them as they stand.
Reading<int> read_unit(Source& in, std::string& raw) {
  int unit = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = co_await in.peek();
    const int digit = hex_digit(c);
    if (digit < 0) co_return -1;
    in.take();
    raw += static_cast<char>(c);
    unit = unit * 16 + digit;
  }
  co_return unit;
}

// What is behind `\u`: a character, or two units that are one together.
Reading<int> read_code(Source& in, std::string& raw) {
  const int first = co_await read_unit(in, raw);
  if (first < 0xD800 || first > 0xDFFF) co_return first;
  if (first > 0xDBFF) co_return -1;
  const bool pair = co_await read_literal(in, "\\u");
  if (!pair) co_return -1;
  raw += "\\u";
  const int second = co_await read_unit(in, raw);
  if (second < 0xDC00 || second > 0xDFFF) co_return -1;
  co_return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
}

Reading<bool> read_scalar(Source& in, Sink& out) {
  const auto belongs = [](int c) { return is_name_byte(c) || c == '+'; };
  const std::string word = co_await read_name(in, belongs);
  if (word != "true" && word != "false" && word != "null" && !is_json_number(word)) co_return false;
  out.put(word);
  co_return true;
}

Reading<bool> read_array(Source& in, Sink& out, int depth) {
  in.take();
  out.put("[");
  int c = co_await pass_blanks(in, out);
  for (bool first = true; c != ']'; first = false) {
    if (!first) {
      if (c != ',') co_return false;
      in.take();
      out.put(",");
      c = co_await pass_blanks(in, out);
    }
    const bool read = co_await read_json_value(in, out, depth + 1);
    if (!read) co_return false;
    c = co_await pass_blanks(in, out);
  }
  in.take();
  out.put("]");
  co_return true;
}

Reading<bool> read_object(Source& in, Sink& out, int depth, std::string_view end) {
  in.take();
  out.put("{");
  std::set<std::string> keys;
  int c = co_await pass_blanks(in, out);
  while (c != '}') {
    if (!keys.empty()) {
      if (c != ',') co_return false;
      in.take();
      out.put(",");
      c = co_await pass_blanks(in, out);
    }
    if (c != '"') co_return false;
    std::string key;
    const bool named = co_await read_json_string(in, out, &key);
    if (!named || !keys.insert(key).second) co_return false;
    c = co_await pass_blanks(in, out);
    if (c != ':') co_return false;
    in.take();
    out.put(":");
    co_await pass_blanks(in, out);
    const bool read = co_await read_json_value(in, out, depth + 1);
    if (!read) co_return false;
    c = co_await pass_blanks(in, out);
  }
  in.take();
  out.put(end);
  co_return true;
}

Reading<bool> read_whole(Source& in, std::string& whole) {
  StringSink text;
  const bool value = co_await read_json_value(in, text);
  const int c = co_await in.peek();
  if (value && c == Source::kEnd) whole = std::move(text.text());
  co_return true;
}

}  // namespace

Reading<bool> read_json_escape(Source& in, Sink& out, std::string* decoded) {
  constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const int c = co_await in.peek();
  if (c == Source::kEnd) co_return false;
  std::string raw = {'\\', static_cast<char>(c)};
  if (const size_t at = kLetters.find(static_cast<char>(c)); at != kLetters.npos) {
    in.take();
    out.put(raw);
    if (decoded != nullptr) *decoded += kMeanings[at];
    co_return true;
  }
  if (c != 'u') co_return false;
  in.take();
  const int code = co_await read_code(in, raw);
  if (code < 0) co_return false;
  out.put(raw);
  if (decoded != nullptr) append_utf8(*decoded, code);
  co_return true;
}

Reading<bool> read_json_string(Source& in, Sink& out, std::string* decoded) {
  in.take();
  out.put("\"");
  for (;;) {
    const int c = co_await in.peek();
    if (c == Source::kEnd) co_return false;
    in.take();
    if (c == '"') break;
    if (c == '\\') {
      const bool read = co_await read_json_escape(in, out, decoded);
      if (!read) co_return false;
      continue;
    }
    std::string written;
    append_escaped(written, static_cast<char>(c));
    out.put(written);
    if (decoded != nullptr) *decoded += static_cast<char>(c);
  }
  out.put("\"");
  co_return true;
}

Reading<bool> read_json_value(Source& in, Sink& out, int depth) {
  const int c = co_await in.peek();
  if ((c == '{' || c == '[') && depth >= limits::kMaxJsonDepth) co_return false;
  if (c == '{') co_return co_await read_object(in, out, depth, "}");
  if (c == '[') co_return co_await read_array(in, out, depth);
  if (c == '"') co_return co_await read_json_string(in, out, nullptr);
  co_return co_await read_scalar(in, out);
}

Reading<bool> read_json_arguments(Source& in, Sink& out) {
  const int c = co_await in.peek();
  if (c != '{') co_return false;
  co_return co_await read_object(in, out, 0, "");
}

std::string read_whole_json(std::string_view text) {
  std::string whole;
  Source source;
  source.run(read_whole(source, whole));
  source.feed(text);
  source.finish(false);
  return whole;
}

bool is_json_number(std::string_view text) {
  size_t at = 0;
  const auto take = [&](std::string_view set) {
    return at < text.size() && set.find(text[at]) != set.npos && ++at;
  };
  const auto digits = [&] {
    const size_t before = at;
    while (take("0123456789")) {
    }
    return at > before;
  };
  take("-");
  const bool zero = take("0");
  if (!zero && !digits()) return false;
  if (take(".") && !digits()) return false;
  if (take("eE")) {
    take("+-");
    if (!digits()) return false;
  }
  return at == text.size() && std::isfinite(std::strtod(std::string(text).c_str(), nullptr));
}

}  // namespace tempo9::chat
