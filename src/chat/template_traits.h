// What a chat template accepts and shows, learnt by rendering a few small conversations once. Rewriting and
// rendering go by these facts alone, so what happens to a message depends only on the template and on the
// messages before it: a conversation that grows keeps its beginning.
#pragma once
#include <string>
#include <vector>

namespace tempo9::chat {

struct TemplateTraits {
  // Content.
  bool takes_text = true;    // a message's content may be a string; if not, it is always a list of parts
  bool takes_parts = false;  // it may be a list of `{"type": …}` parts, which images need
  // Roles.
  bool shows_system = true;        // a system message in front, always and before what follows
  bool shows_later_system = true;  // a system message further down, in its place
  bool allows_repeated_user = true;
  bool allows_repeated_assistant = true;
  bool allows_assistant_first = true;
  // Tools.
  bool takes_none_as_tools = true;  // where none are declared; if not, it wants an empty list
  bool takes_tools = true;          // does not fail on declarations, even if it does not show them
  bool takes_bare_tools = true;     // declarations without description and parameters
  bool shows_tools = true;          // declarations
  bool shows_tool_calls = true;     // calls of an assistant turn and their results
  bool allows_parallel_calls = true;
  bool allows_user_after_tool = true;        // a user message right behind a tool's result
  bool allows_bridge_after_tool = true;      // the same with an empty assistant message between them
  bool shows_text_beside_call = true;        // content of an assistant turn that calls a tool
  bool allows_reasoning_beside_call = true;  // reasoning and content in one assistant turn that calls a tool
  bool shows_images_in_results = true;       // where content may be a list of parts
  bool takes_any_call_id = true;             // if not, ids are nine letters or digits
  // Words for the effort of reasoning, weakest first; empty if it takes every word, or reads none.
  std::vector<std::string> efforts = {};
  enum class Arguments { kObject, kText } arguments = Arguments::kObject;  // what a call's are given as

  bool operator==(const TemplateTraits&) const = default;
};

// For conversations that a template refuses although its traits are respected: every rewriting there is.
inline TemplateTraits most_restrictive(TemplateTraits traits) {
  traits.shows_later_system = false;
  traits.allows_repeated_user = traits.allows_repeated_assistant = traits.allows_assistant_first = false;
  traits.allows_parallel_calls = traits.allows_user_after_tool = false;
  traits.allows_reasoning_beside_call = false;
  return traits;
}

}  // namespace tempo9::chat
