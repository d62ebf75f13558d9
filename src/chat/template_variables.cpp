#include "chat/template_variables.h"

#include <algorithm>
#include <string_view>

#include "chat/jinja/from_json.h"
#include "chat/jinja/json_writer.h"
#include "chat/reasoning_effort.h"

namespace tempo9::chat {
namespace {

using jinja::Runtime;
using jinja::Value;
using Entries = std::vector<jinja::Dict::Entry>;

// Adds to a dict under construction. Names are ours, so they are no content.
void add(Runtime& runtime, Entries& entries, std::string_view name, Value value) {
  entries.emplace_back(runtime.string(name), std::move(value));
}

Status add_text(Runtime& runtime, Entries& entries, std::string_view name, const std::string& text) {
  TRY_ASSIGN(Value value, jinja::from_text(runtime, text));
  add(runtime, entries, name, std::move(value));
  return {};
}

Status add_json(Runtime& runtime, Entries& entries, std::string_view name, const Json& json) {
  TRY_ASSIGN(Value value, jinja::from_json(runtime, json));
  add(runtime, entries, name, std::move(value));
  return {};
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::kSystem:
    case Role::kDeveloper:
      return "system";
    case Role::kUser:
      return "user";
    case Role::kAssistant:
      return "assistant";
    case Role::kTool:
      return "tool";
  }
  return {};
}

bool is_image(const ContentPart& part) {
  return part.kind == ContentPart::Kind::kImage;
}

std::string joined_text(const std::vector<ContentPart>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += "\n";
    text += parts[i].text;
  }
  return text;
}

Result<Value> text_part(Runtime& runtime, const std::string& text) {
  Entries part;
  add(runtime, part, "type", runtime.string("text"));
  TRY(add_text(runtime, part, "text", text));
  return runtime.dict(std::move(part));
}

Result<Value> content_value(Runtime& runtime, const std::vector<ContentPart>& parts,
                            const TemplateTraits& traits) {
  const bool has_image = std::ranges::any_of(parts, is_image);
  if (!has_image && traits.takes_text) return jinja::from_text(runtime, joined_text(parts));
  if (has_image && !traits.takes_parts) {
    return fail(ErrorCode::kUnsupported, "this model's chat template has no place for images");
  }
  std::vector<Value> list;
  if (!has_image) {
    TRY_ASSIGN(Value part, text_part(runtime, joined_text(parts)));
    list.push_back(std::move(part));
    return runtime.list(std::move(list));
  }
  for (const ContentPart& part : parts) {
    if (is_image(part)) {
      Entries image;
      add(runtime, image, "type", runtime.string("image"));
      TRY_ASSIGN(Value value, runtime.dict(std::move(image)));
      list.push_back(std::move(value));
    } else {
      TRY_ASSIGN(Value value, text_part(runtime, part.text));
      list.push_back(std::move(value));
    }
  }
  return runtime.list(std::move(list));
}

Result<Value> arguments_value(Runtime& runtime, const Json& arguments, const TemplateTraits& traits) {
  if (traits.arguments == TemplateTraits::Arguments::kText) {
    if (const auto* text = arguments.get_ptr<const std::string*>()) return jinja::from_text(runtime, *text);
    // As json.dumps writes it, which is what the model was trained on.
    TRY_ASSIGN(const Value value, jinja::from_json(runtime, arguments));
    TRY_ASSIGN(jinja::Text text, jinja::write_json(runtime, value, {}));
    return runtime.string(std::move(text));
  }
  if (arguments.is_object()) return jinja::from_json(runtime, arguments);
  // What is no JSON object is shown as the one argument of an object.
  Entries entries;
  const auto* text = arguments.get_ptr<const std::string*>();
  const bool nothing = arguments.is_null() || (text != nullptr && text->empty());
  if (!nothing) TRY(add_json(runtime, entries, "arguments", arguments));
  return runtime.dict(std::move(entries));
}

Result<Value> tool_call_value(Runtime& runtime, const ToolCall& call, const TemplateTraits& traits) {
  Entries function;
  TRY(add_text(runtime, function, "name", call.name));
  TRY_ASSIGN(Value arguments, arguments_value(runtime, call.arguments, traits));
  add(runtime, function, "arguments", std::move(arguments));
  TRY_ASSIGN(Value function_value, runtime.dict(std::move(function)));
  Entries entries;
  if (!call.id.empty()) TRY(add_text(runtime, entries, "id", call.id));
  add(runtime, entries, "type", runtime.string("function"));
  add(runtime, entries, "function", std::move(function_value));
  return runtime.dict(std::move(entries));
}

Result<Value> message_value(Runtime& runtime, const Message& message, const TemplateTraits& traits) {
  Entries entries;
  add(runtime, entries, "role", runtime.string(role_name(message.role)));
  if (!message.reasoning.empty()) {
    TRY(add_text(runtime, entries, "thinking", message.reasoning));
    TRY(add_text(runtime, entries, "reasoning_content", message.reasoning));
  }
  TRY_ASSIGN(Value content, content_value(runtime, message.content, traits));
  add(runtime, entries, "content", std::move(content));
  if (!message.tool_calls.empty()) {
    std::vector<Value> calls;
    for (const ToolCall& call : message.tool_calls) {
      TRY_ASSIGN(Value value, tool_call_value(runtime, call, traits));
      calls.push_back(std::move(value));
    }
    TRY_ASSIGN(Value list, runtime.list(std::move(calls)));
    add(runtime, entries, "tool_calls", std::move(list));
  }
  if (message.role == Role::kTool) {
    if (!message.tool_call_id.empty()) TRY(add_text(runtime, entries, "tool_call_id", message.tool_call_id));
    if (!message.tool_name.empty()) TRY(add_text(runtime, entries, "name", message.tool_name));
  }
  return runtime.dict(std::move(entries));
}

// The declaration with an empty description and an empty schema where it has none.
Json complete_declaration(Json declaration) {
  if (!declaration.is_object() || !declaration.contains("function")) return declaration;
  Json& function = declaration["function"];
  if (!function.is_object()) return declaration;
  if (!function.contains("description")) function["description"] = "";
  Json& parameters = function["parameters"];
  if (!parameters.is_object()) parameters = {{"type", "object"}};
  if (!parameters.contains("properties")) parameters["properties"] = Json::object();
  return declaration;
}

Result<Value> tools_value(Runtime& runtime, const std::vector<Tool>& tools, const TemplateTraits& traits) {
  const bool none = !traits.takes_tools || std::ranges::all_of(tools, &Tool::deferred);
  if (none && traits.takes_none_as_tools) return jinja::None{};
  std::vector<Value> list;
  for (const Tool& tool : tools) {
    if (none) break;
    if (tool.deferred) continue;
    TRY_ASSIGN(Value value, traits.takes_bare_tools
                                ? jinja::from_json(runtime, tool.declaration)
                                : jinja::from_json(runtime, complete_declaration(tool.declaration)));
    list.push_back(std::move(value));
  }
  return runtime.list(std::move(list));
}

// Names that a request's further variables may not replace.
bool is_reserved(std::string_view name) {
  static constexpr std::string_view kReserved[] = {"messages", "tools", "add_generation_prompt", "bos_token",
                                                   "eos_token"};
  return std::ranges::find(kReserved, name) != std::end(kReserved);
}

}  // namespace

Result<Value> template_variables(Runtime& runtime, const ChatRequest& request,
                                 const std::vector<Message>& messages, const TemplateTraits& traits,
                                 const SpecialTexts& special) {
  std::vector<Value> list;
  for (const Message& message : messages) {
    TRY_ASSIGN(Value value, message_value(runtime, message, traits));
    list.push_back(std::move(value));
  }
  Entries variables;
  TRY_ASSIGN(Value message_list, runtime.list(std::move(list)));
  add(runtime, variables, "messages", std::move(message_list));
  TRY_ASSIGN(Value tools, tools_value(runtime, request.tools, traits));
  add(runtime, variables, "tools", std::move(tools));
  add(runtime, variables, "documents", jinja::None{});
  add(runtime, variables, "add_generation_prompt",
      request.add_generation_prompt && !request.continue_final_message);
  add(runtime, variables, "bos_token", runtime.string(special.begin));
  add(runtime, variables, "eos_token", runtime.string(special.end));
  if (request.enable_thinking) {
    add(runtime, variables, "enable_thinking", *request.enable_thinking);
    add(runtime, variables, "thinking", *request.enable_thinking);
  }
  if (request.reasoning_effort) {
    if (const auto effort = choose_effort(*request.reasoning_effort, traits.efforts))
      TRY(add_text(runtime, variables, "reasoning_effort", *effort));
  }
  if (request.template_arguments.is_object()) {
    for (const auto& [name, value] : request.template_arguments.items()) {
      if (!is_reserved(name)) TRY(add_json(runtime, variables, name, value));
    }
  }
  return runtime.dict(std::move(variables));
}

}  // namespace tempo9::chat
