// Renders chat templates for tests/template_reference_test.py. Each line of the input is a JSON object:
//   {"template": source, "variables": {…}}   runs the template engine alone
//   {"template": source, "request": {…}}     renders a conversation in the shape of OpenAI's chat messages
// and gives one line {"text": …, "content": [[begin, end], …]} or {"error": …}. A request may also hold
// add_generation_prompt, enable_thinking, reasoning_effort, template_arguments, begin_text and end_text.
#include <chrono>
#include <iostream>
#include <map>
#include <string>

#include "chat/chat_template.h"
#include "chat/jinja/engine.h"
#include "chat/jinja/from_json.h"

namespace {

using Json = nlohmann::ordered_json;
using namespace tempo9;
using namespace tempo9::chat;

Json error(const Error& error) {
  return {{"error", error.message}};
}

Json render_variables(const std::string& source, const Json& variables) {
  const auto parsed = jinja::Template::parse(source);
  if (!parsed) return error(parsed.error());
  jinja::Runtime runtime;
  const auto values = jinja::from_json(runtime, variables);
  if (!values) return error(values.error());
  const auto text = parsed->render(runtime, *values);
  if (!text) return error(text.error());
  Json content = Json::array();
  for (const auto& [begin, end] : text->marks()) content.push_back({begin, end});
  return {{"text", text->bytes()}, {"content", content}};
}

Role read_role(const std::string& name) {
  static const std::map<std::string, Role> roles = {{"system", Role::kSystem},
                                                    {"developer", Role::kDeveloper},
                                                    {"user", Role::kUser},
                                                    {"assistant", Role::kAssistant},
                                                    {"tool", Role::kTool}};
  return roles.at(name);
}

std::vector<ContentPart> read_content(const Json& content) {
  if (content.is_null()) return {};
  if (content.is_string()) return {{ContentPart::Kind::kText, content, {}}};
  std::vector<ContentPart> parts;
  for (const Json& part : content) {
    if (part.at("type") == "text") {
      parts.push_back({ContentPart::Kind::kText, part.at("text"), {}});
    } else {
      parts.push_back({ContentPart::Kind::kImage, {}, "image"});
    }
  }
  return parts;
}

Message read_message(const Json& json) {
  Message message;
  message.role = read_role(json.at("role"));
  message.content = read_content(json.value("content", Json()));
  message.reasoning = json.value("reasoning_content", "");
  message.tool_call_id = json.value("tool_call_id", "");
  message.tool_name = json.value("name", "");
  for (const Json& call : json.value("tool_calls", Json::array())) {
    const Json& function = call.at("function");
    const Json& arguments = function.at("arguments");
    Json parsed =
        arguments.is_string() ? Json::parse(arguments.get<std::string>(), nullptr, false) : arguments;
    if (!parsed.is_object()) parsed = arguments;
    message.tool_calls.push_back({call.value("id", ""), function.at("name"), parsed});
  }
  return message;
}

ChatRequest read_request(const Json& json) {
  ChatRequest request;
  for (const Json& message : json.at("messages")) request.messages.push_back(read_message(message));
  for (const Json& declaration : json.value("tools", Json::array())) {
    const Json& function = declaration.at("function");
    request.tools.push_back({function.at("name"), function.value("description", ""),
                             function.value("parameters", Json()), declaration});
  }
  request.add_generation_prompt = json.value("add_generation_prompt", true);
  if (json.contains("enable_thinking")) request.enable_thinking = json.at("enable_thinking").get<bool>();
  if (json.contains("reasoning_effort")) request.reasoning_effort = json.at("reasoning_effort");
  request.template_arguments = json.value("template_arguments", Json::object());
  return request;
}

Json show_traits(const TemplateTraits& traits) {
  return {{"takes_text", traits.takes_text},
          {"takes_parts", traits.takes_parts},
          {"shows_system", traits.shows_system},
          {"shows_later_system", traits.shows_later_system},
          {"allows_repeated_user", traits.allows_repeated_user},
          {"allows_repeated_assistant", traits.allows_repeated_assistant},
          {"allows_assistant_first", traits.allows_assistant_first},
          {"takes_none_as_tools", traits.takes_none_as_tools},
          {"takes_tools", traits.takes_tools},
          {"takes_bare_tools", traits.takes_bare_tools},
          {"shows_tools", traits.shows_tools},
          {"shows_tool_calls", traits.shows_tool_calls},
          {"allows_parallel_calls", traits.allows_parallel_calls},
          {"allows_user_after_tool", traits.allows_user_after_tool},
          {"allows_bridge_after_tool", traits.allows_bridge_after_tool},
          {"allows_reasoning_beside_call", traits.allows_reasoning_beside_call},
          {"takes_any_call_id", traits.takes_any_call_id},
          {"arguments_as_text", traits.arguments == TemplateTraits::Arguments::kText}};
}

// Templates are parsed once: many requests use the same one.
Json render_request(const std::string& source, const Json& json) {
  static std::map<std::string, Result<std::shared_ptr<const ChatTemplate>>> templates;
  auto found = templates.find(source);
  if (found == templates.end()) {
    found = templates
                .emplace(source, ChatTemplate::parse(source, json.value("begin_text", "<s>"),
                                                     json.value("end_text", "</s>")))
                .first;
  }
  if (!found->second) return error(found->second.error());
  const ChatTemplate& chat_template = **found->second;
  if (json.contains("show_traits")) return {{"traits", show_traits(chat_template.traits())}};
  const auto start = std::chrono::steady_clock::now();
  const auto prompt = chat_template.render(read_request(json));
  const auto end = std::chrono::steady_clock::now();
  if (!prompt) return error(prompt.error());
  Json content = Json::array();
  for (const auto& range : prompt->content) content.push_back({range.begin, range.end});
  return {{"text", prompt->text},
          {"content", content},
          {"seconds", std::chrono::duration<double>(end - start).count()}};
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const Json input = Json::parse(line);
    const Json output = input.contains("variables")
                            ? render_variables(input.at("template"), input["variables"])
                            : render_request(input.at("template"), input.at("request"));
    std::cout << output.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
  }
}
