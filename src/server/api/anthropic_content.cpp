#include "server/api/anthropic_content.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "server/api/conversation.h"
#include "server/api/images.h"
#include "server/api/tools.h"

namespace tempo9::server {
namespace {

constexpr chat::Role kRoles[] = {chat::Role::kUser, chat::Role::kAssistant, chat::Role::kSystem};

// Blocks of an assistant turn that stand for work of Anthropic's servers, or that only they can read.
constexpr std::array<std::string_view, 11> kLeftOut = {"redacted_thinking",
                                                       "server_tool_use",
                                                       "web_search_tool_result",
                                                       "web_fetch_tool_result",
                                                       "code_execution_tool_result",
                                                       "bash_code_execution_tool_result",
                                                       "text_editor_code_execution_tool_result",
                                                       "tool_search_tool_result",
                                                       "mcp_tool_use",
                                                       "mcp_tool_result",
                                                       "container_upload"};

class Reader {
 public:
  Reader(chat::ChatRequest& conversation, Faults& faults, std::vector<std::string>& left_out)
      : conversation_(conversation), faults_(faults), left_out_(left_out), deferred_(conversation.tools) {}

  void read_system(Fields& fields) {
    if (fields.any("system") == nullptr) return;
    chat::Message message;
    message.role = chat::Role::kSystem;
    read_blocks(
        fields, "system",
        [&](Fields& block, std::string_view type) {
          if (!read_text(block, type, message)) refuse(block, type);
        },
        message);
    if (!message.content.empty()) conversation_.messages.push_back(std::move(message));
  }

  void read_message(const Json& value, const FieldPath& path) {
    Fields fields(value, path, faults_);
    const std::optional<chat::Role> role = read_role(fields, kRoles);
    if (fields.any("content") == nullptr)
      return fields.refuse(ErrorCode::kInvalidArgument, "content", "this field is required");
    chat::Message message;
    message.role = role.value_or(chat::Role::kUser);
    const size_t before = conversation_.messages.size();
    read_blocks(
        fields, "content",
        [&](Fields& block, std::string_view type) {
          message.role == chat::Role::kAssistant ? read_assistant_block(block, type, message)
                                                 : read_user_block(block, type, message);
        },
        message);
    const bool results_only = conversation_.messages.size() > before && message.content.empty();
    if (!results_only) conversation_.messages.push_back(std::move(message));
  }

 private:
  // A field that is a text, or a list of blocks.
  template <class ReadBlock>
  void read_blocks(Fields& fields, std::string_view name, const ReadBlock& read_block,
                   chat::Message& message) {
    const Json* content = fields.any(name);
    if (content == nullptr) return;
    if (const auto* text = content->get_ptr<const std::string*>()) return add_text(message, *text);
    if (!content->is_array())
      return fields.refuse(
          ErrorCode::kInvalidArgument, name,
          fmt::format("expected a string or an array of blocks, but got {}", kind_of(*content)));
    const FieldPath path = fields.path().member(name);
    for (size_t i = 0; i < content->size(); ++i) {
      const FieldPath block_path = path.element(i);
      Fields block((*content)[i], block_path, faults_);
      read_block(block, block.required_string("type"));
    }
  }

  bool read_text(Fields& block, std::string_view type, chat::Message& message) {
    if (type == "text") add_text(message, block.required_string("text"));
    return type == "text";
  }

  // What both a user's message and a tool's result may hold.
  bool read_shown(Fields& block, std::string_view type, chat::Message& message) {
    if (type == "image") {
      read_image(block, message);
    } else if (type == "document") {
      read_document(block, message);
    } else if (type == "tool_reference") {
      add_text(message, deferred_.introduce(block.required_string("tool_name")));
    } else {
      return read_text(block, type, message);
    }
    return true;
  }

  void read_user_block(Fields& block, std::string_view type, chat::Message& message) {
    if (type != "tool_result") {
      if (!read_shown(block, type, message)) refuse(block, type);
      return;
    }
    if (!message.content.empty()) {  // what stood before it
      const chat::Role role = message.role;
      conversation_.messages.push_back(std::exchange(message, {}));
      message.role = role;
    }
    chat::Message result;
    result.role = chat::Role::kTool;
    result.tool_call_id = block.required_string("tool_use_id");
    read_blocks(
        block, "content",
        [&](Fields& part, std::string_view part_type) {
          if (!read_shown(part, part_type, result)) refuse(part, part_type);
        },
        result);
    conversation_.messages.push_back(std::move(result));
  }

  void read_assistant_block(Fields& block, std::string_view type, chat::Message& message) {
    if (type == "thinking") {
      if (!message.reasoning.empty()) message.reasoning += "\n";
      message.reasoning += block.required_string("thinking");
    } else if (type == "tool_use") {
      const Json* input = block.object("input");
      message.tool_calls.push_back({block.string("id").value_or(""), block.required_string("name"),
                                    input == nullptr ? Json::object() : *input});
    } else if (std::ranges::find(kLeftOut, type) != kLeftOut.end()) {
      if (left_out_.size() < limits::kMaxUnknownFields)
        left_out_.push_back(fmt::format("messages: {}", type));
    } else if (!read_text(block, type, message)) {
      refuse(block, type);
    }
  }

  void read_image(Fields& block, chat::Message& message) {
    const Json* source = block.required_object("source");
    if (source == nullptr) return;
    const FieldPath path = block.path().member("source");
    Fields members(*source, path, faults_);
    const std::string type = members.required_string("type");
    if (type == "base64")
      add_image(message, members.required_string("data"), path.member("data"), faults_);
    else if (type == "url")
      add_image_url(message, members.required_string("url"), path.member("url"), faults_);
    else
      members.refuse(ErrorCode::kUnsupported, "type",
                     fmt::format("images from '{}' are not supported", abbreviate(type)));
  }

  void read_document(Fields& block, chat::Message& message) {
    const Json* source = block.required_object("source");
    if (source == nullptr) return;
    const FieldPath path = block.path().member("source");
    Fields members(*source, path, faults_);
    const std::string type = members.required_string("type");
    if (type == "text") return add_text(message, members.required_string("data"));
    members.refuse(ErrorCode::kUnsupported, "type",
                   fmt::format("documents of type '{}' are not supported; only 'text' is", abbreviate(type)));
  }

  void refuse(Fields& block, std::string_view type) {
    if (!type.empty())  // otherwise its absence has been reported
      block.refuse(ErrorCode::kUnsupported, "type",
                   fmt::format("a block of type '{}' is not supported here", abbreviate(type)));
  }

  chat::ChatRequest& conversation_;
  Faults& faults_;
  std::vector<std::string>& left_out_;
  DeferredTools deferred_;
};

// A text that the client has put into the model's mouth: the reply goes on from there.
bool is_begun_reply(const chat::ChatRequest& conversation) {
  if (conversation.messages.empty()) return false;
  const chat::Message& last = conversation.messages.back();
  const bool text_last =
      !last.content.empty() && last.content.back().text.find_first_not_of(" \t\r\n") != std::string::npos;
  return last.role == chat::Role::kAssistant && last.tool_calls.empty() && text_last;
}

}  // namespace

void read_anthropic_content(Fields& fields, chat::ChatRequest& conversation,
                            std::vector<std::string>& left_out) {
  Reader reader(conversation, fields.faults(), left_out);
  reader.read_system(fields);
  drop_attribution(conversation);
  const Json* messages = fields.required_array("messages");
  if (messages == nullptr) return;
  if (messages->empty())
    fields.refuse(ErrorCode::kInvalidArgument, "messages", "must hold at least one message");
  const FieldPath path = fields.path().member("messages");
  for (size_t i = 0; i < messages->size(); ++i) reader.read_message((*messages)[i], path.element(i));
  conversation.continue_final_message = is_begun_reply(conversation);
}

}  // namespace tempo9::server
