#include "server/api/conversation.h"

#include <utility>

#include "base/limits.h"

namespace tempo9::server {
namespace {

std::string_view role_name(chat::Role role) {
  switch (role) {
    case chat::Role::kSystem:
      return "system";
    case chat::Role::kDeveloper:
      return "developer";
    case chat::Role::kUser:
      return "user";
    case chat::Role::kAssistant:
      return "assistant";
    case chat::Role::kTool:
      return "tool";
  }
  return {};
}

}  // namespace

std::optional<chat::Role> read_role(Fields& fields, std::span<const chat::Role> allowed) {
  const std::string given = fields.required_string("role");
  std::string names;
  for (const chat::Role role : allowed) {
    if (role_name(role) == given) return role;
    names += (names.empty() ? "" : ", ");
    names += role_name(role);
  }
  fields.refuse(ErrorCode::kInvalidArgument, "role",
                fmt::format("'{}' is not one of {}", abbreviate(given), names));
  return std::nullopt;
}

void add_text(chat::Message& message, std::string text) {
  message.content.push_back({chat::ContentPart::Kind::kText, std::move(text), {}});
}

Json parse_arguments(Fields& call, std::string_view name, const std::string& text) {
  size_t& values = call.faults().values_in_texts();
  const Result<Json> parsed = parse_json(text, values);
  if (values > limits::kMaxJsonValues)
    call.refuse(ErrorCode::kInvalidArgument, name,
                fmt::format("the arguments of all calls hold more than {} values", limits::kMaxJsonValues));
  return parsed && parsed->is_object() ? *parsed : Json(text);
}

void set_effort(chat::ChatRequest& conversation, std::string_view effort) {
  const bool none = effort == "none";
  if (!none) conversation.reasoning_effort = std::string(effort);
  if (none || !conversation.enable_thinking) conversation.enable_thinking = !none;
}

void drop_attribution(chat::ChatRequest& conversation) {
  constexpr std::string_view kAttribution = "x-anthropic-billing-header:";
  if (conversation.messages.empty()) return;
  chat::Message& first = conversation.messages.front();
  const bool instructs = first.role == chat::Role::kSystem || first.role == chat::Role::kDeveloper;
  if (!instructs || first.content.empty()) return;
  std::string& text = first.content.front().text;
  if (!text.starts_with(kAttribution)) return;
  const size_t end = text.find('\n');
  text.erase(0, end == text.npos ? end : end + 1);
  if (text.empty()) first.content.erase(first.content.begin());
  if (first.content.empty()) conversation.messages.erase(conversation.messages.begin());
}

void require_messages(const chat::ChatRequest& conversation, Fields& fields, std::string_view field) {
  if (conversation.messages.empty())
    fields.refuse(ErrorCode::kInvalidArgument, field, "must hold at least one message");
}

}  // namespace tempo9::server
