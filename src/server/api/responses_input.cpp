#include "server/api/responses_input.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/limits.h"
#include "server/api/base64.h"
#include "server/api/conversation.h"
#include "server/api/images.h"
#include "server/api/responses_tools.h"
#include "server/api/tools.h"

namespace tempo9::server {
namespace {

constexpr chat::Role kRoles[] = {chat::Role::kSystem, chat::Role::kDeveloper, chat::Role::kUser,
                                 chat::Role::kAssistant};

// Work of OpenAI's servers, or what only they can read.
constexpr std::array<std::string_view, 14> kLeftOut = {
    "web_search_call",      "file_search_call",        "computer_call",
    "computer_call_output", "image_generation_call",   "code_interpreter_call",
    "local_shell_call",     "local_shell_call_output", "mcp_list_tools",
    "mcp_approval_request", "mcp_approval_response",   "mcp_call",
    "compaction",           "compaction_summary"};

class Reader {
 public:
  Reader(chat::ChatRequest& conversation, Faults& faults, std::vector<std::string>& left_out)
      : conversation_(conversation), faults_(faults), left_out_(left_out) {}

  void add_message(chat::Role role, std::string text) {
    chat::Message message;
    message.role = role;
    add_text(message, std::move(text));
    add(std::move(message));
  }

  void read_item(const Json& value, const FieldPath& path) {
    Fields item(value, path, faults_);
    const std::string type = item.string("type").value_or("message");
    if (type == "message")
      read_message(item);
    else if (type == "reasoning")
      read_reasoning(item);
    else if (type == "function_call" || type == "custom_tool_call" || type == "tool_search_call")
      read_call(item, type);
    else if (type == "function_call_output" || type == "custom_tool_call_output")
      read_result(item);
    else if (type == "tool_search_output")
      read_search_result(item);
    else if (std::ranges::find(kLeftOut, type) != kLeftOut.end())
      leave_out(type);
    else
      item.refuse(ErrorCode::kUnsupported, "type",
                  fmt::format("items of type '{}' are not supported", abbreviate(type)));
  }

  // After the last item.
  void finish() {
    if (turn_) conversation_.messages.push_back(*std::exchange(turn_, std::nullopt));
    std::unordered_set<std::string> names;
    for (const chat::Tool& tool : conversation_.tools) names.insert(tool.name);
    for (chat::Tool& tool : found_) {
      if (!names.insert(tool.name).second) continue;
      tool.deferred = true;
      conversation_.tools.push_back(std::move(tool));
    }
  }

 private:
  void add(chat::Message message) {
    if (turn_) conversation_.messages.push_back(*std::exchange(turn_, std::nullopt));
    conversation_.messages.push_back(std::move(message));
  }

  chat::Message& turn() {
    if (!turn_) turn_.emplace().role = chat::Role::kAssistant;
    return *turn_;
  }

  void leave_out(std::string_view type) {
    if (left_out_.size() < limits::kMaxUnknownFields) left_out_.push_back(fmt::format("input: {}", type));
  }

  void read_message(Fields& item) {
    const std::optional<chat::Role> role = read_role(item, kRoles);
    if (item.any("content") == nullptr)
      return item.refuse(ErrorCode::kInvalidArgument, "content", "this field is required");
    if (role != chat::Role::kAssistant) {
      chat::Message message;
      message.role = role.value_or(chat::Role::kUser);
      read_content(item, "content", message);
      return add(std::move(message));
    }
    // A second message of the model is a second turn, unless calls of the first still wait for their results.
    if (turn_ && !turn_->content.empty() && turn_->tool_calls.empty())
      conversation_.messages.push_back(*std::exchange(turn_, std::nullopt));
    read_content(item, "content", turn());
  }

  // A field that is a text, or a list of parts.
  void read_content(Fields& item, std::string_view name, chat::Message& message) {
    const Json* content = item.any(name);
    if (content == nullptr) return;
    if (const auto* text = content->get_ptr<const std::string*>()) return add_text(message, *text);
    if (!content->is_array())
      return item.refuse(
          ErrorCode::kInvalidArgument, name,
          fmt::format("expected a string or an array of parts, but got {}", kind_of(*content)));
    const FieldPath path = item.path().member(name);
    for (size_t i = 0; i < content->size(); ++i) read_part((*content)[i], path.element(i), message);
  }

  void read_part(const Json& value, const FieldPath& path, chat::Message& message) {
    Fields part(value, path, faults_);
    const std::string type = part.required_string("type");
    if (type == "input_text" || type == "output_text" || type == "text")
      add_text(message, part.required_string("text"));
    else if (type == "refusal")
      add_text(message, part.required_string("refusal"));
    else if (type == "input_image")
      add_image_url(message, part.required_string("image_url"), path.member("image_url"), faults_);
    else if (!type.empty())
      part.refuse(ErrorCode::kUnsupported, "type",
                  fmt::format("content of type '{}' is not supported", abbreviate(type)));
  }

  // The reasoning itself where the client keeps it, otherwise its summary.
  void read_reasoning(Fields& item) {
    std::string text = joined_texts(item, "content");
    if (const auto packed = item.string("encrypted_content"); packed && text.empty())
      text = unpack_reasoning(*packed).value_or("");
    if (text.empty()) text = joined_texts(item, "summary");
    if (text.empty()) return;
    std::string& reasoning = turn().reasoning;
    if (!reasoning.empty()) reasoning += "\n";
    reasoning += text;
  }

  std::string joined_texts(Fields& item, std::string_view name) {
    std::string joined;
    const Json* parts = item.array(name);
    if (parts == nullptr) return joined;
    const FieldPath path = item.path().member(name);
    for (size_t i = 0; i < parts->size(); ++i) {
      const FieldPath part_path = path.element(i);
      if (i != 0) joined += "\n\n";
      joined += Fields((*parts)[i], part_path, faults_).required_string("text");
    }
    return joined;
  }

  void read_call(Fields& item, std::string_view type) {
    chat::ToolCall call;
    call.id = item.string("call_id").value_or("");
    if (type == "tool_search_call") {
      call.name = "tool_search";
      const Json* arguments = item.any("arguments");
      if (arguments != nullptr)
        call.arguments = arguments->is_string()
                             ? parse_arguments(item, "arguments", arguments->get<std::string>())
                             : *arguments;
    } else {
      const std::string name = item.required_string("name");
      call.name = qualified_name(item.string("namespace").value_or(""), name);
      call.arguments = type == "custom_tool_call"
                           ? freeform_arguments(item.string("input").value_or(""))
                           : parse_arguments(item, "arguments", item.string("arguments").value_or(""));
    }
    turn().tool_calls.push_back(std::move(call));
  }

  void read_result(Fields& item) {
    chat::Message message;
    message.role = chat::Role::kTool;
    message.tool_call_id = item.required_string("call_id");
    read_content(item, "output", message);
    add(std::move(message));
  }

  // What was found is declared where it was found, and can be called from there on.
  void read_search_result(Fields& item) {
    chat::Message message;
    message.role = chat::Role::kTool;
    message.tool_call_id = item.string("call_id").value_or("");
    const Json* tools = item.array("tools");
    const FieldPath path = item.path().member("tools");
    const size_t before = found_.size();
    for (size_t i = 0; tools != nullptr && i < tools->size(); ++i)
      read_responses_tool((*tools)[i], path.element(i), faults_, found_, left_out_);
    for (size_t i = before; i < found_.size(); ++i) add_text(message, declare_found(found_[i]));
    add(std::move(message));
  }

  chat::ChatRequest& conversation_;
  Faults& faults_;
  std::vector<std::string>& left_out_;
  std::optional<chat::Message> turn_;  // of the assistant, being put together
  std::vector<chat::Tool> found_;      // by searches
};

}  // namespace

void read_responses_input(Fields& fields, chat::ChatRequest& conversation,
                          std::vector<std::string>& left_out) {
  Reader reader(conversation, fields.faults(), left_out);
  if (auto instructions = fields.string("instructions"))
    reader.add_message(chat::Role::kSystem, *std::move(instructions));
  const FieldPath path = fields.path().member("input");
  const Json* input = fields.any("input");
  if (input != nullptr && input->is_string()) {
    reader.add_message(chat::Role::kUser, input->get<std::string>());
  } else if (input != nullptr && input->is_array()) {
    for (size_t i = 0; i < input->size(); ++i) reader.read_item((*input)[i], path.element(i));
  } else if (input != nullptr) {
    fields.refuse(ErrorCode::kInvalidArgument, "input",
                  fmt::format("expected a string or an array of items, but got {}", kind_of(*input)));
  }
  reader.finish();
  require_messages(conversation, fields, "input");
  drop_attribution(conversation);
}

}  // namespace tempo9::server
