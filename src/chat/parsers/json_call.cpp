#include "chat/parsers/json_call.h"

#include "chat/parsers/json_value.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

struct Seen {
  bool name = false, arguments = false;
};

Reading<bool> read_name_member(Source& in, Answer& out) {
  const int c = co_await in.peek();
  if (c != '"') co_return false;
  NoSink nowhere;
  std::string name;
  const bool read = co_await read_json_string(in, nowhere, &name);
  if (read) out.name_call(name);
  co_return read;
}

Reading<bool> read_arguments_member(Source& in, Answer& out) {
  const int c = co_await in.peek();
  if (c == '{') co_return co_await read_json_arguments(in, out);
  NoSink nowhere;
  std::string text;
  if (c == '"') {
    const bool read = co_await read_json_string(in, nowhere, &text);
    if (read) text = read_whole_json(text);
    if (!read || !text.starts_with('{')) co_return false;
  } else {
    const bool none = co_await read_literal(in, "null");
    if (!none) co_return false;
    text = "{}";
  }
  text.pop_back();
  out.put(text);
  co_return true;
}

Reading<bool> read_member(Source& in, Answer& out, OtherMembers others, Seen& seen) {
  NoSink nowhere;
  std::string key;
  const int c = co_await in.peek();
  if (c != '"') co_return false;
  const bool named = co_await read_json_string(in, nowhere, &key);
  if (!named) co_return false;
  const int colon = co_await skip_blanks(in);
  if (colon != ':') co_return false;
  in.take();
  co_await skip_blanks(in);
  if (key == "name" && !seen.name) {
    seen.name = true;
    co_return co_await read_name_member(in, out);
  }
  const bool arguments = key == "arguments" || key == "parameters";
  if (arguments && !seen.arguments) {
    seen.arguments = true;
    co_return co_await read_arguments_member(in, out);
  }
  const bool harmless = key == "id" || key == "type" || others == OtherMembers::kAllowed;
  if (key == "name" || arguments || !harmless) co_return false;
  co_return co_await read_json_value(in, nowhere);
}

Reading<bool> read_members(Source& in, Answer& out, OtherMembers others) {
  const int brace = co_await in.peek();
  if (brace != '{') co_return false;
  in.take();
  Seen seen;
  for (bool first = true;; first = false) {
    int c = co_await skip_blanks(in);
    if (c == '}') break;
    if (!first) {
      if (c != ',') co_return false;
      in.take();
      co_await skip_blanks(in);
    }
    const bool read = co_await read_member(in, out, others, seen);
    if (!read) co_return false;
  }
  in.take();
  if (seen.name && !seen.arguments) out.put("{");
  co_return seen.name;
}

}  // namespace

Reading<bool> read_json_call(Source& in, Answer& out, OtherMembers others) {
  return read_members(in, out, others);
}

}  // namespace tempo9::chat
