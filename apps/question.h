// A question as the model's own chat template puts it.
#pragma once
#include <string>

#include "chat/chat_template.h"
#include "engine/engine.h"

namespace tempo9::apps {

// `system` may be empty. kInvalidArgument if the model has no template or refuses the conversation.
Result<chat::RenderedPrompt> render_question(const engine::ModelInfo& info, const std::string& system,
                                             const std::string& question,
                                             std::optional<bool> enable_thinking = {});

// Which parts of the prompt came from the user: control tokens are not recognised there. The result refers to
// `ranges`, which it fills.
text::SpecialTokens outside_content(const chat::RenderedPrompt& prompt, std::vector<text::Range>& ranges);

}  // namespace tempo9::apps
