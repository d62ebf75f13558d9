#include "server/api/openai_messages.h"

#include <array>
#include <optional>
#include <utility>

#include "server/api/conversation.h"
#include "server/api/images.h"
#include "server/api/openai_fields.h"
#include "server/api/tools.h"

namespace tempo9::server {
namespace {

constexpr chat::Role kRoles[] = {chat::Role::kSystem, chat::Role::kDeveloper, chat::Role::kUser,
                                 chat::Role::kAssistant, chat::Role::kTool};

void read_image(Fields& part, const FieldPath& path, chat::Message& message) {
  const Json* image = part.required_object("image_url");
  if (image == nullptr) return;
  const FieldPath image_path = path.member("image_url");
  const std::string url = Fields(*image, image_path, part.faults()).required_string("url");
  add_image_url(message, url, image_path.member("url"), part.faults());
}

void read_part(const Json& value, const FieldPath& path, Faults& faults, chat::Message& message) {
  Fields part(value, path, faults);
  const std::string type = part.required_string("type");
  if (type == "text")
    add_text(message, part.required_string("text"));
  else if (type == "refusal")
    add_text(message, part.required_string("refusal"));
  else if (type == "image_url")
    read_image(part, path, message);
  else if (type == "input_audio" || type == "file")
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
  const std::string type = fields.string("type").value_or("function");
  if (type != "function" && type != "custom") {
    fields.refuse(ErrorCode::kUnsupported, "type", "only calls of type 'function' or 'custom' are supported");
    return call;
  }
  const Json* called = fields.required_object(type);
  if (called == nullptr) return call;
  const FieldPath called_path = path.member(type);
  Fields members(*called, called_path, faults);
  call.name = members.required_string("name");
  if (type == "custom")
    call.arguments = freeform_arguments(members.string("input").value_or(""));
  else
    call.arguments = parse_arguments(members, "arguments", members.string("arguments").value_or(""));
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

void read_message(const Json& value, const FieldPath& path, Faults& faults, chat::ChatRequest& conversation) {
  Fields fields(value, path, faults);
  chat::Message message;
  const std::optional<chat::Role> role = read_role(fields, kRoles);
  if (!role) return;
  message.role = *role;
  read_content(fields, message);
  if (*role == chat::Role::kAssistant) read_assistant(fields, message);
  if (*role == chat::Role::kTool) {
    message.tool_call_id = fields.string("tool_call_id").value_or("");
    message.tool_name = fields.string("name").value_or("");
  }
  conversation.messages.push_back(std::move(message));
}

}  // namespace

void read_messages(Fields& fields, chat::ChatRequest& conversation) {
  const Json* messages = fields.required_array("messages");
  if (messages == nullptr) return;
  const FieldPath path = fields.path().member("messages");
  for (size_t i = 0; i < messages->size(); ++i)
    read_message((*messages)[i], path.element(i), fields.faults(), conversation);
  require_messages(conversation, fields, "messages");
  drop_attribution(conversation);
}

}  // namespace tempo9::server
