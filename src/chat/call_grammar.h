// A reply that must call tools, or whose calls must be right, as a form.
#pragma once
#include <optional>
#include <span>

#include "base/result.h"
#include "chat/chat_request.h"
#include "chat/reasoning.h"
#include "grammar/form.h"

namespace tempo9::chat {

struct CallDemands {
  bool required = false;       // the reply is a call
  const Tool* only = nullptr;  // of this tool
  bool several = true;         // or more than one
};

// Nothing where no call is demanded and no tool is strict: a reply may be anything then. The arguments of
// strict tools are held to their schemas, others to what their schema demands if it can be kept, else to an
// object. `answer`: the form of a reply that does not call, if it must have one. kUnsupported: models with
// this template are not known to call tools, or write calls in a way that a strict tool's schema cannot be
// kept in.
Result<std::optional<grammar::Form>> call_form(const ReplyStart& start, std::span<const Tool> tools,
                                               const CallDemands& demands,
                                               std::optional<grammar::Form> answer);

}  // namespace tempo9::chat
