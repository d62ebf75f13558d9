#include "server/api/openai_messages.h"

#include <array>
#include <utility>

#include "server/api/openai_fields.h"

namespace tempo9::server {
namespace {

std::optional<chat::Role> find_role(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, chat::Role>, 5> kRoles = {{
      {"system", chat::Role::kSystem},
      {"developer", chat::Role::kDeveloper},
      {"user", chat::Role::kUser},
      {"assistant", chat::Role::kAssistant},
      {"tool", chat::Role::kTool},
  }};
  for (const auto& [role_name, role] : kRoles)
    if (role_name == name) return role;
  return std::nullopt;
}

void add_text(chat::Message& message, std::string text) {
  chat::ContentPart part;
  part.text = std::move(text);
  message.content.push_back(std::move(part));
}

void read_part(const Json& value, const FieldPath& path, Faults& faults, chat::Message& message) {
  Fields part(value, path, faults);
  const std::string type = part.required_string("type");
  if (type == "text")
    add_text(message, part.required_string("text"));
  else if (type == "refusal")
    add_text(message, part.required_string("refusal"));
  else if (type == "image_url" || type == "input_audio" || type == "file")
    part.refuse(ErrorCode::kUnsupported, "type",
                fmt::format("content of type '{}' is not supported by this model", type));
  else if (!type.empty())
    part.refuse(ErrorCode::kInvalidArgument, "type",
                fmt::format("'{}' is not a type of content part; expected 'text'", abbreviate(type)));
}

void read_content(Fields& fields, chat::Message& message) {
  const Json* content = fields.any("content");
  if (content == nullptr) {
    if (message.role != chat::Role::kAssistant)
      fields.refuse(ErrorCode::kInvalidArgument, "content", "this field is required");
    return;
  }
  if (const auto* text = content->get_ptr<const std::string*>()) {
    add_text(message, *text);
    return;
  }
  if (!content->is_array())
    return fields.refuse(
        ErrorCode::kInvalidArgument, "content",
        fmt::format("expected a string or an array of parts, but got {}", kind_of(*content)));
  const FieldPath path = fields.path().member("content");
  for (size_t i = 0; i < content->size(); ++i)
    read_part((*content)[i], path.element(i), fields.faults(), message);
}

chat::ToolCall read_tool_call(const Json& value, const FieldPath& path, Faults& faults) {
  chat::ToolCall call;
  Fields fields(value, path, faults);
  call.id = fields.string("id").value_or("");
  if (const auto type = fields.string("type"); type && *type != "function")
    fields.refuse(ErrorCode::kUnsupported, "type", "only calls of type 'function' are supported");
  const Json* function = fields.object("function");
  if (function == nullptr) {
    fields.refuse(ErrorCode::kInvalidArgument, "function", "this field is required");
    return call;
  }
  const FieldPath function_path = path.member("function");
  Fields members(*function, function_path, faults);
  call.name = members.required_string("name");
  const std::string arguments = members.string("arguments").value_or("");
  const Result<Json> parsed = parse_json(arguments);
  call.arguments = parsed && parsed->is_object() ? *parsed : Json(arguments);
  return call;
}

void read_assistant(Fields& fields, chat::Message& message) {
  for (const std::string_view name : {"reasoning", "reasoning_content"})
    if (const auto reasoning = fields.string(name)) message.reasoning = *reasoning;
  if (const Json* calls = fields.array("tool_calls")) {
    const FieldPath path = fields.path().member("tool_calls");
    for (size_t i = 0; i < calls->size(); ++i)
      message.tool_calls.push_back(read_tool_call((*calls)[i], path.element(i), fields.faults()));
  }
  constexpr std::array<UnsupportedField, 2> kUnsupported = {{{"audio"}, {"function_call"}}};
  refuse_unsupported(fields, kUnsupported);
}

// Templates want a result's function name, which clients leave out: it stands in the call.
std::string called_name(const chat::ChatRequest& conversation, const std::string& call_id) {
  for (auto message = conversation.messages.rbegin(); message != conversation.messages.rend(); ++message)
    for (const chat::ToolCall& call : message->tool_calls)
      if (call.id == call_id) return call.name;
  return "";
}

void read_message(const Json& value, const FieldPath& path, Faults& faults, chat::ChatRequest& conversation) {
  Fields fields(value, path, faults);
  chat::Message message;
  const std::string name = fields.required_string("role");
  const std::optional<chat::Role> role = find_role(name);
  if (!role) {
    fields.refuse(
        ErrorCode::kInvalidArgument, "role",
        fmt::format("'{}' is not one of system, developer, user, assistant, tool", abbreviate(name)));
    return;
  }
  message.role = *role;
  read_content(fields, message);
  if (*role == chat::Role::kAssistant) read_assistant(fields, message);
  if (*role == chat::Role::kTool) {
    message.tool_call_id = fields.string("tool_call_id").value_or("");
    message.tool_name = fields.string("name").value_or(called_name(conversation, message.tool_call_id));
  }
  conversation.messages.push_back(std::move(message));
}

}  // namespace

void read_messages(Fields& fields, chat::ChatRequest& conversation) {
  const Json* messages = fields.required_array("messages");
  if (messages == nullptr) return;
  if (messages->empty()) fields.refuse(ErrorCode::kInvalidArgument, "messages", "must not be empty");
  const FieldPath path = fields.path().member("messages");
  for (size_t i = 0; i < messages->size(); ++i)
    read_message((*messages)[i], path.element(i), fields.faults(), conversation);
}

}  // namespace tempo9::server
