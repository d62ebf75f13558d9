// A model's own chat template: ChatRequest to prompt text.
// Threads: immutable after parse; any number of threads may render at once.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/reasoning.h"
#include "chat/template_traits.h"

namespace tempo9::chat {

// Bytes [begin, end) of the prompt that came from the request (messages, tools), not from the template:
// there, control tokens are only text.
struct ContentRange {
  size_t begin, end;
};

struct RenderedPrompt {
  std::string text;
  std::vector<ContentRange> content;  // ascending, disjoint
  ReplyStart reply;
};

class ChatTemplate {
 public:
  // kInvalidArgument with the line and the reason if the source does not parse.
  static Result<std::shared_ptr<const ChatTemplate>> parse(std::string source, std::string begin_text,
                                                           std::string end_text);
  virtual ~ChatTemplate() = default;
  // What the template can show; for instance, whether declared tools reach the model at all.
  virtual const TemplateTraits& traits() const = 0;
  // Null: it knows of no thinking.
  virtual const ThinkingTags* thinking_tags() const = 0;
  // Whether a reply may hold thinking: between such tags, or on a channel of its own.
  virtual bool shows_thinking() const = 0;
  // Null: how its model writes calls is not known, or it writes none.
  virtual const CallStyle* call_style() const = 0;
  // kInvalidArgument with the template's own words if it refuses the conversation (raise_exception) even
  // after the rewritings of chat/rewriting.h; a limit that is exceeded is named. With continue_final_message
  // the prompt ends with the last message's text, which is refused if the template does not show it last.
  // White space at its ends is kept or trimmed as the template does it in a finished conversation.
  virtual Result<RenderedPrompt> render(const ChatRequest& request) const = 0;
};

}  // namespace tempo9::chat
