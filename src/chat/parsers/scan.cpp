#include "chat/parsers/scan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"

namespace tempo9::chat {
namespace {

bool any_begins(std::span<const std::string> stops, const std::string& held) {
  return std::ranges::any_of(stops, [&](const std::string& stop) { return stop.starts_with(held); });
}

// The first `count` bytes of what was held back.
void pass(size_t count, std::string& held, Answer& out, CodeQuotes& quotes) {
  for (size_t i = 0; i < count; ++i) quotes.see(held[i]);
  out.text(std::string_view(held).substr(0, count));
  held.erase(0, count);
}

}  // namespace

Reading<int> skip_blanks(Source& in) {
  for (;;) {
    const int c = co_await in.peek();
    if (!is_blank(c)) co_return c;
    in.take();
  }
}

Reading<bool> read_literal(Source& in, std::string_view literal) {
  for (size_t i = 0; i < literal.size(); ++i) {
    const int c = co_await in.peek();
    if (c != static_cast<unsigned char>(literal[i])) {
      in.give_back(i);
      co_return false;
    }
    in.take();
  }
  co_return true;
}

Reading<std::string> read_name(Source& in, bool (*belongs)(int)) {
  std::string name;
  while (name.size() < limits::kMaxCallNameBytes) {
    const int c = co_await in.peek();
    if (c == Source::kEnd || !belongs(c)) break;
    in.take();
    name += static_cast<char>(c);
  }
  co_return name;
}

Reading<int> read_until(Source& in, Sink& out, std::span<const std::string> stops) {
  std::string held;  // may be the beginning of a stop
  for (;;) {
    const int c = co_await in.peek();
    if (c == Source::kEnd) {
      out.put(held);
      co_return -1;
    }
    in.take();
    held += static_cast<char>(c);
    while (!any_begins(stops, held)) {
      out.put({held.data(), 1});
      held.erase(0, 1);
    }
    const auto found = std::ranges::find(stops, held);
    if (found != stops.end()) co_return static_cast<int>(found - stops.begin());
  }
}

void CodeQuotes::see(char c) {
  if (c == '`') {
    ++run_;
    return;
  }
  end_run();
  if (c == '\n') {
    line_begins_ = true;
    span_ = false;  // one that goes on in the next line is rarer than one that nobody has closed
  } else if (c != ' ') {
    line_begins_ = false;
  }
}

void CodeQuotes::end_run() {
  if (run_ == 0) return;
  if (run_ >= 3 && line_begins_)
    fence_ = !fence_;
  else if (!fence_)
    span_ = !span_;
  line_begins_ = false;
  run_ = 0;
}

bool CodeQuotes::quoting() {
  end_run();
  return span_ || fence_;
}

Reading<bool> pass_text(Source& in, Answer& out, std::string_view marker, CodeQuotes& quotes) {
  std::string held;
  for (;;) {
    if (held.empty()) in.mark({});
    const int c = co_await in.peek();
    if (c == Source::kEnd) {
      pass(held.size(), held, out, quotes);
      co_return false;
    }
    in.take();
    held += static_cast<char>(c);
    while (!marker.starts_with(held)) pass(1, held, out, quotes);
    if (held != marker) continue;
    if (marker.front() == kControlSign || !quotes.quoting()) co_return true;
    out.count(CallFault::kQuoted);
    pass(held.size(), held, out, quotes);
  }
}

Reading<bool> pass_rest(Source& in, Answer& out) {
  for (;;) {
    in.mark({});
    const int c = co_await in.peek();
    if (c == Source::kEnd) co_return true;
    in.take();
    const char byte = static_cast<char>(c);
    out.text({&byte, 1});
  }
}

void append_escaped(std::string& to, char c) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  const size_t at = kEscaped.find(c);
  if (at != kEscaped.npos)
    (to += '\\') += kLetters[at];
  else if (static_cast<unsigned char>(c) < 0x20)
    to += fmt::format("\\u{:04x}", static_cast<int>(c));
  else
    to += c;
}

std::string quote_json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) append_escaped(quoted, c);
  return quoted + '"';
}

}  // namespace tempo9::chat
