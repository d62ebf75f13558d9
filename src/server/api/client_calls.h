// The calls of a reply as its client sees them: by the names that the client gave its tools, each with an id,
// and with text instead of JSON where the tool is a free-form one.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chat/call_delta.h"
#include "chat/chat_request.h"
#include "server/api/freeform_input.h"
#include "server/api/json_parse.h"

namespace tempo9::server {

// A tool as its client knows it.
struct CalledTool {
  chat::Tool::Kind kind = chat::Tool::Kind::kFunction;
  std::string name_space, name;
  bool eager = false;  // chat::Tool::eager
};

// The tools of a request by the names that the model sees.
class CalledTools {
 public:
  CalledTools() = default;  // for dialects that know functions only
  explicit CalledTools(const std::vector<chat::Tool>& tools);
  // A function of this very name if none was declared.
  CalledTool find(const std::string& name) const;

 private:
  std::unordered_map<std::string, CalledTool> by_name_;
};

// "call_" and "req_0123…" to an id that no other call has, here or in another reply. Letters, digits and one
// underscore, 25 of them or few more: clients and templates have limits.
std::string call_id(std::string_view prefix, std::string_view request_id, int choice, int index);

// What the client gets of one call.
struct ClientCall {
  int index = 0;
  CalledTool tool;
  std::string text;  // so far: the arguments, as the text of a JSON object, or a free-form tool's input
  bool freeform() const { return tool.kind == chat::Tool::Kind::kFreeform; }
};

// Follows the calls of one reply. Threads: one at a time.
class ClientCalls {
 public:
  explicit ClientCalls(const CalledTools& tools) : tools_(&tools) {}  // which must outlive this

  struct Step {
    bool begins = false;
    std::string added;  // to the call's text
    bool finished = false, withdrawn = false;
  };
  // A withdrawn call never ends with empty arguments: many clients would take it for one that needs none.
  Step take(const chat::CallDelta& piece);
  // The one that the latest piece belongs to.
  const ClientCall& call() const { return call_; }

 private:
  const CalledTools* tools_;
  ClientCall call_;
  FreeformInput input_;
};

// The arguments of a complete call as an object, for dialects that do not send them as text.
Json arguments_object(const std::string& text);

}  // namespace tempo9::server
