// Learns a template's traits by rendering small conversations.
#pragma once
#include "base/result.h"
#include "chat/jinja/engine.h"
#include "chat/parsers/styles.h"
#include "chat/template_traits.h"
#include "chat/template_variables.h"

namespace tempo9::chat {

TemplateTraits probe_traits(const jinja::Template& parsed, const SpecialTexts& special);

// How the template's model writes calls, judged by how earlier ones are shown to it. Null: in no style known
// here, or not at all.
const CallStyle* probe_call_style(const jinja::Template& parsed, const SpecialTexts& special,
                                  const TemplateTraits& traits);

// One rendering: the messages as they are, without rewriting.
Result<jinja::Text> render_messages(const jinja::Template& parsed, const ChatRequest& request,
                                    const std::vector<Message>& messages, const TemplateTraits& traits,
                                    const SpecialTexts& special, size_t max_steps);

}  // namespace tempo9::chat
