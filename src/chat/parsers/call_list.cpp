#include "chat/parsers/call_list.h"

#include "chat/parsers/scan.h"

namespace tempo9::chat {

Reading<bool> read_call_list(Source& in, Answer& out, Reading<bool> (*read_call)(Source& in, Answer& out)) {
  in.take();
  bool all = true;
  for (int c = ','; c != ']';) {
    co_await skip_blanks(in);
    const bool read = co_await read_call(in, out);
    if (!read) co_return false;
    all = out.complete_call() && all;
    out.begin_call({});
    c = co_await skip_blanks(in);
    if (c != ',' && c != ']') co_return false;
    in.take();
  }
  if (!all) out.release_call();  // the bracket belongs to what was written
  co_return true;
}

}  // namespace tempo9::chat
