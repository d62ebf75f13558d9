// [TOOL_CALLS] and then an array of JSON objects (Mistral 7B, Nemo) or f[ARGS]{…} for each call (Small 3.2,
// Devstral, Ministral 3), with [CALL_ID]… between the two in some.
#include "chat/parsers/call_list.h"
#include "chat/parsers/context.h"
#include "chat/parsers/json_call.h"
#include "chat/parsers/json_value.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

struct CallMarks {
  std::string calls, arguments, id;
};

Reading<bool> read_named_call(Source& in, Answer& out, const CallMarks& marks) {
  const std::string name = co_await read_name(in, is_name_byte);
  if (name.empty()) co_return false;
  co_await skip_blanks(in);
  const bool has_id = co_await read_literal(in, marks.id);
  if (has_id) co_await read_name(in, is_name_byte);
  co_await read_literal(in, marks.arguments);
  const int c = co_await skip_blanks(in);
  if (c != '{') co_return false;
  out.name_call(name);
  const bool read = co_await read_json_arguments(in, out);
  if (read) out.complete_call();
  co_return read;
}

Reading<bool> read_listed_call(Source& in, Answer& out) {
  return read_json_call(in, out);
}

Reading<bool> read_after_mark(Source& in, Answer& out, const CallMarks& marks) {
  const int c = co_await skip_blanks(in);
  if (c == '[') co_return co_await read_call_list(in, out, read_listed_call);
  if (c != '{') co_return co_await read_named_call(in, out, marks);
  const bool read = co_await read_json_call(in, out);
  if (read) out.complete_call();
  co_return read;
}

Reading<bool> read_reply(ReplyContext& context) {
  Source& in = context.in;
  Answer& out = context.out;
  const CallMarks marks{context.spell("[TOOL_CALLS]"), context.spell("[ARGS]"), context.spell("[CALL_ID]")};
  CodeQuotes quotes;
  for (;;) {
    const bool found = co_await pass_text(in, out, marks.calls, quotes);
    if (!found) co_return true;
    out.begin_call(marks.calls);
    const bool read = co_await read_after_mark(in, out, marks);
    if (read) continue;
    out.give_up_call();
    // A control token cannot stand in a string of the broken call; plain text could.
    if (marks.calls.front() != kControlSign) co_return co_await pass_rest(in, out);
  }
}

}  // namespace

Reading<bool> read_mistral(ReplyContext& context) {
  return read_reply(context);
}

}  // namespace tempo9::chat
