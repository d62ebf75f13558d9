// <tool_call>{"name": "f", "arguments": {…}}</tool_call>: Hermes, Qwen 2.5, Qwen 3 and many others.
#include "chat/parsers/enclosed.h"
#include "chat/parsers/json_call.h"

namespace tempo9::chat {
namespace {

Reading<bool> read_hermes_body(ReplyContext& context) {
  return read_json_call(context.in, context.out);
}

}  // namespace

Reading<bool> read_hermes(ReplyContext& context) {
  return read_enclosed_calls(context, {"<tool_call>", "</tool_call>", "{", read_hermes_body});
}

}  // namespace tempo9::chat
