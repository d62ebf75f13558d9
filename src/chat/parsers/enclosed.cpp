#include "chat/parsers/enclosed.h"

#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

Reading<bool> read_body(ReplyContext& context, const Enclosure& enclosure, std::string_view close) {
  co_await skip_blanks(context.in);
  const bool read = co_await enclosure.read(context);
  if (!read) co_return false;
  co_await skip_blanks(context.in);
  co_return co_await read_literal(context.in, close);
}

Reading<bool> pass_through(ReplyContext& context, const std::string& close) {
  TextSink text(context.out);
  const int found = co_await read_until(context.in, text, {&close, 1});
  if (found == 0) context.out.text(close);
  co_return true;
}

}  // namespace

Reading<bool> read_enclosed_calls(ReplyContext& context, Enclosure enclosure) {
  const std::string open = context.spell(enclosure.open), close = context.spell(enclosure.close);
  const std::string body = context.spell(enclosure.body);
  CodeQuotes quotes;
  for (;;) {
    const bool found = co_await pass_text(context.in, context.out, open, quotes);
    if (!found) co_return true;
    context.out.begin_call(open);
    const bool read = co_await read_body(context, enclosure, close);
    if (read) {
      context.out.complete_call();
      continue;
    }
    const bool begun = context.in.taken().find(body, open.size()) != std::string::npos;
    context.out.give_up_call();
    if (begun) co_await pass_through(context, close);
  }
}

}  // namespace tempo9::chat
