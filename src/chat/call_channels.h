// Replies on channels (gpt-oss), as forms. Their calls have no beginning of their own, so the form is of all
// messages.
#pragma once
#include <optional>
#include <span>

#include "base/result.h"
#include "chat/call_grammar.h"

namespace tempo9::chat {

// `may_call`: calls are part of it. `answer`: the form of what stands on the channel for answers.
Result<grammar::Form> channel_reply(const ReplyStart& start, std::span<const Tool> tools,
                                    const CallDemands& demands, bool may_call,
                                    std::optional<grammar::Form> answer);

}  // namespace tempo9::chat
