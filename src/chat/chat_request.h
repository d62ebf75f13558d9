// What a conversation is inside Tempo9, whatever dialect it came in. Plain values.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tempo9::chat {

// Key order is kept: tool schemas are rendered as the client wrote them.
using Json = nlohmann::ordered_json;

struct ContentPart {
  enum class Kind { kText, kImage } kind = Kind::kText;
  std::string text;         // kText
  std::string image_bytes;  // kImage: the encoded file (PNG, JPEG, WebP)
};

struct ToolCall {
  std::string id, name;
  Json arguments;  // an object where the client sent valid JSON, otherwise the string it sent
};

enum class Role { kSystem, kDeveloper, kUser, kAssistant, kTool };

struct Message {
  Role role = Role::kUser;
  std::vector<ContentPart> content;
  std::string reasoning;                // of an assistant turn
  std::vector<ToolCall> tool_calls;     // of an assistant turn
  std::string tool_call_id, tool_name;  // of a tool result
};

struct Tool {
  std::string name, description;  // as the model sees them
  Json parameters;                // JSON Schema, or null
  Json declaration;  // the whole `{"type": "function", "function": {...}}` as templates expect it
  // What a call is in the client's dialect. The model sees functions only: a free-form tool is one with a
  // single string, `input`.
  enum class Kind { kFunction, kFreeform, kToolSearch } kind = Kind::kFunction;
  std::string name_space = {}, own_name = {};  // of a function in a namespace: how the client names the two
  // kFreeform: the grammar its text must have, {"syntax": "lark" or "regex", "definition"}, or null.
  Json format = nullptr;
  bool strict = false;  // arguments must have the form that `parameters` describes
  // May be called, but the prompt's head does not declare it: its declaration stands in the conversation,
  // where a search has found it. So a tool that is loaded on the way leaves the head as it is.
  bool deferred = false;
  bool eager = false;  // its client takes arguments in pieces that may turn out to be no call
};

struct ChatRequest {
  std::vector<Message> messages;
  std::vector<Tool> tools;
  bool add_generation_prompt = true;
  // The reply goes on where the last message, the assistant's, ends: nothing closes its text.
  bool continue_final_message = false;
  std::optional<bool> enable_thinking;          // unset: the template's own default
  std::optional<std::string> reasoning_effort;  // a word of chat/reasoning_effort.h, or another
  Json template_arguments = Json::object();     // further variables the template may read
};

}  // namespace tempo9::chat
