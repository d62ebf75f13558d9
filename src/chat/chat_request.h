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
  std::string name, description;
  Json parameters;   // JSON Schema, or null
  Json declaration;  // the whole `{"type": "function", "function": {...}}` as templates expect it
};

struct ChatRequest {
  std::vector<Message> messages;
  std::vector<Tool> tools;
  bool add_generation_prompt = true;
  std::optional<bool> enable_thinking;          // unset: the template's own default
  std::optional<std::string> reasoning_effort;  // "low", "medium", "high", …
  Json template_arguments = Json::object();     // further variables the template may read
};

}  // namespace tempo9::chat
