// <|tool_call>call:f{p:<|"|>text<|"|>,n:3}<tool_call|>: Gemma 4. Models also write JSON between the braces.
#include "chat/parsers/enclosed.h"
#include "chat/parsers/notation.h"
#include "chat/parsers/scan.h"

namespace tempo9::chat {
namespace {

constexpr std::string_view kCall = "call:";

Reading<bool> read_gemma_body(ReplyContext& context) {
  const Notation notation{context.spell("<|\"|>"), true};
  const bool begun = co_await read_literal(context.in, kCall);
  if (!begun) co_return false;
  const std::string name = co_await read_name(context.in, is_name_byte);
  if (name.empty()) co_return false;
  const int c = co_await context.in.peek();
  if (c != '{') co_return false;
  context.out.name_call(name);
  co_return co_await read_notation_arguments(context.in, context.out, notation, context.out.tool());
}

}  // namespace

Reading<bool> read_gemma(ReplyContext& context) {
  return read_enclosed_calls(context, {"<|tool_call>", "<tool_call|>", kCall, read_gemma_body});
}

}  // namespace tempo9::chat
