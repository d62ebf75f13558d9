// What models write. The first byte says in which style, the second how the reply begins and ends; the rest
// is the reply, in which the style's control tokens stand for themselves. However it is cut, it must mean the
// same.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "chat/testing/replies.h"

namespace {

using namespace tempo9;
using chat::testing::cut_every;
using chat::testing::Heard;
using chat::testing::Listener;

// A detokenizer gives valid UTF-8.
std::string as_text(const uint8_t* data, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i)
    if (data[i] < 0x80)
      text += static_cast<char>(data[i]);
    else
      text += "\u00E9";
  return text;
}

Listener listener_for(uint8_t which, uint8_t flags) {
  static const chat::ThinkingTags* const tags = chat::find_thinking_tags("</think>");
  const auto styles = chat::call_styles();
  Listener listener;
  listener.start.style = &styles[which % styles.size()];
  listener.start.tail = (flags & 16) != 0 ? "<|start|>assistant" : "";
  if ((flags & 2) != 0) listener.start.tags = tags;
  if ((flags & 1) != 0) listener.controls = chat::list_markers(listener.start);
  listener.cut = (flags & 4) != 0;
  if ((flags & 8) != 0) listener.tools.clear();
  return listener;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHead = 2;
  if (size < kHead) return 0;
  Listener listener = listener_for(data[0], data[1]);
  const std::string reply = as_text(data + kHead, size - kHead);
  const Heard whole = listener.hear(reply, cut_every(reply.size()));
  CHECK(whole.problem().empty());
  for (const size_t bytes : {1, 3, 16}) {
    const Heard cut = listener.hear(reply, cut_every(bytes));
    CHECK(cut.problem().empty());
    CHECK(cut.show() == whole.show());
  }
  if (listener.tools.empty() && !listener.start.style->always) CHECK(whole.calls() == 0);
  return 0;
}
