// The variables a chat template reads, named and shaped as Hugging Face transformers names and shapes them.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/jinja/runtime.h"
#include "chat/jinja/value.h"
#include "chat/template_traits.h"

namespace tempo9::chat {

struct SpecialTexts {
  std::string begin, end;  // of the begin- and end-of-text tokens
};

// messages, tools, documents, add_generation_prompt, bos_token, eos_token; enable_thinking (also as
// `thinking`) and reasoning_effort where the request sets them; and the request's template_arguments. Content
// of text alone is one string, its parts joined by line breaks; with an image it is a list of parts.
// Fails with kUnsupported on an image where the template takes no parts, and with the reason on text that is
// not UTF-8.
Result<jinja::Value> template_variables(jinja::Runtime& runtime, const ChatRequest& request,
                                        const std::vector<Message>& messages, const TemplateTraits& traits,
                                        const SpecialTexts& special);

}  // namespace tempo9::chat
