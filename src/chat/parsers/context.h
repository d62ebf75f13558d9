// What a style's reader works with. Threads: one at a time.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chat/parsers/answer.h"
#include "chat/parsers/source.h"
#include "chat/parsers/styles.h"

namespace tempo9::chat {

struct ReplyContext {
  Source& in;
  Answer& out;
  std::vector<std::string> controls;  // those of the style's markers that are control tokens
  std::string tail;                   // what the template has put behind the last message

  // `text` as the source gives it: control tokens in it have their sign.
  std::string spell(std::string_view text) const;
};

// The readers of all styles; each reads one whole reply. They always give true.
Reading<bool> read_gemma(ReplyContext& context);
Reading<bool> read_harmony(ReplyContext& context);
Reading<bool> read_hermes(ReplyContext& context);
Reading<bool> read_llama(ReplyContext& context);
Reading<bool> read_mistral(ReplyContext& context);
Reading<bool> read_qwen_xml(ReplyContext& context);

}  // namespace tempo9::chat
