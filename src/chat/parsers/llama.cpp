// A reply that is nothing but calls: {"name": "f", "parameters": {…}}, several with semicolons between them
// (Llama 3), or [f(a=1), g(b="x")] in Python's syntax (Llama 3.2 and 4). <|python_tag|> may stand in front,
// and lets calls follow a text, which has none otherwise: a JSON object in a text is only that.
#include <set>

#include "chat/parsers/argument_types.h"
#include "chat/parsers/call_list.h"
#include "chat/parsers/context.h"
#include "chat/parsers/json_call.h"
#include "chat/parsers/notation.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

const Notation kPython{};

Reading<bool> read_keywords(Source& in, Answer& out) {
  out.put("{");
  std::set<std::string> names;
  int c = co_await skip_blanks(in);
  while (c != ')') {
    if (!names.empty()) {
      if (c != ',') co_return false;
      in.take();
      c = co_await skip_blanks(in);
      if (c == ')') break;
    }
    const std::string name = co_await read_name(in, is_name_byte);
    if (name.empty() || !names.insert(name).second) co_return false;
    co_await skip_blanks(in);
    const bool equals = co_await read_literal(in, "=");
    if (!equals) co_return false;
    co_await skip_blanks(in);
    out.put((names.size() > 1 ? ", " : "") + quote_json(name) + ": ");
    const unsigned allowed = out.tool() == nullptr ? types::kAny : allowed_types(*out.tool(), name);
    const bool read = co_await read_argument(in, out, kPython, allowed);
    if (!read) co_return false;
    c = co_await skip_blanks(in);
  }
  in.take();
  co_return true;
}

Reading<bool> read_keyword_call(Source& in, Answer& out) {
  const std::string name = co_await read_name(in, is_name_byte);
  if (name.empty()) co_return false;
  const bool begun = co_await read_literal(in, "(");
  if (!begun) co_return false;
  out.name_call(name);
  co_return co_await read_keywords(in, out);
}

// The next call, or list of calls, if that is what comes. `tagged`: the tag has been read.
Reading<bool> read_llama_call(ReplyContext& context, const std::string& tag, bool tagged, bool first) {
  Source& in = context.in;
  Answer& out = context.out;
  int c = co_await skip_blanks(in);
  if (!first && c == ';') {
    in.take();
    co_await skip_blanks(in);
  }
  if (!tagged) tagged = co_await read_literal(in, tag);
  c = co_await skip_blanks(in);
  bool read = false;
  if (c == '[') {
    read = co_await read_call_list(in, out, read_keyword_call);
  } else if (c == '{') {
    read = co_await read_json_call(in, out, OtherMembers::kForbidden);
    if (read) out.complete_call();
  }
  if (read) co_return true;
  if (tagged || out.has_name())
    out.give_up_call();
  else
    out.release_call();
  co_return false;
}

}  // namespace

Reading<bool> read_llama(ReplyContext& context) {
  const std::string tag = context.spell("<|python_tag|>");
  CodeQuotes quotes;
  bool tagged = false;
  context.out.begin_call({});
  for (;;) {
    bool first = true;
    for (;;) {
      const bool read = co_await read_llama_call(context, tag, tagged, first);
      if (!read) break;
      context.out.begin_call({});
      tagged = first = false;
    }
    tagged = co_await pass_text(context.in, context.out, tag, quotes);
    if (!tagged) co_return true;
    context.out.begin_call(tag);
  }
}

}  // namespace tempo9::chat
