// Renders chat templates for the Python tests. Each line of the input is a JSON object with a `template` and
//   "variables": {…}                           runs the template engine alone
//   "dialect": "anthropic", "body": {…}        reads a client's request as the server does, and renders it
//   "show": "traits"                           shows what the template takes
// and gives one line {"text": …, "content": [[begin, end], …], "seconds": …}, {"traits": {…}, "style": how
// its model writes calls} or {"error": …, "param": …}. A request's line may also hold begin_text, end_text
// and add_generation_prompt. What the server cannot answer yet stands beside the text as "gap".
#include <chrono>
#include <iostream>
#include <map>
#include <string>

#include "chat/chat_template.h"
#include "chat/jinja/engine.h"
#include "chat/jinja/from_json.h"
#include "chat/parsers/styles.h"
#include "server/api/anthropic_request.h"
#include "server/api/ollama_request.h"
#include "server/api/openai_chat_request.h"
#include "server/api/responses_request.h"

namespace {

using Json = nlohmann::ordered_json;
using namespace tempo9;
using namespace tempo9::chat;

Json content_ranges(const auto& ranges) {
  Json content = Json::array();
  for (const auto& [begin, end] : ranges) content.push_back({begin, end});
  return content;
}

Json render_variables(const std::string& source, const Json& variables) {
  const auto parsed = jinja::Template::parse(source);
  if (!parsed) return {{"error", parsed.error().message}};
  jinja::Runtime runtime;
  const auto values = jinja::from_json(runtime, variables);
  if (!values) return {{"error", values.error().message}};
  const auto text = parsed->render(runtime, *values);
  if (!text) return {{"error", text.error().message}};
  return {{"text", text->bytes()}, {"content", content_ranges(text->marks())}};
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
          {"shows_text_beside_call", traits.shows_text_beside_call},
          {"allows_reasoning_beside_call", traits.allows_reasoning_beside_call},
          {"shows_images_in_results", traits.shows_images_in_results},
          {"takes_any_call_id", traits.takes_any_call_id},
          {"arguments_as_text", traits.arguments == TemplateTraits::Arguments::kText}};
}

using Parse = server::ApiResult<server::ApiRequest> (*)(std::string_view, const engine::ModelInfo&);

Json render_request(const ChatTemplate& chat_template, const Json& line) {
  static const std::map<std::string, Parse> dialects = {{"openai_chat", server::parse_openai_chat},
                                                        {"responses", server::parse_openai_responses},
                                                        {"anthropic", server::parse_anthropic_messages},
                                                        {"ollama_chat", server::parse_ollama_chat},
                                                        {"ollama_generate", server::parse_ollama_generate}};
  engine::ModelInfo model;
  model.vocabulary_size = 100'000;
  auto request = dialects.at(line.at("dialect"))(line.at("body").dump(), model);
  if (!request) return {{"error", request.error().message}, {"param", request.error().param}};
  auto& conversation = std::get<ChatRequest>(request->input);
  conversation.add_generation_prompt =
      line.value("add_generation_prompt", conversation.add_generation_prompt);
  const auto start = std::chrono::steady_clock::now();
  const auto prompt = chat_template.render(conversation);
  const auto end = std::chrono::steady_clock::now();
  if (!prompt) return {{"error", prompt.error().message}, {"param", "messages"}};
  return {{"text", prompt->text},
          {"content", content_ranges(prompt->content)},
          {"seconds", std::chrono::duration<double>(end - start).count()},
          {"gap", request->gap ? Json(request->gap->message) : Json()}};
}

// Templates are parsed once: many requests use the same one.
Json render_line(const Json& line) {
  const std::string& source = line.at("template").get_ref<const std::string&>();
  if (line.contains("variables")) return render_variables(source, line["variables"]);
  static std::map<std::string, Result<std::shared_ptr<const ChatTemplate>>> templates;
  auto found = templates.find(source);
  if (found == templates.end()) {
    auto parsed =
        ChatTemplate::parse(source, line.value("begin_text", "<s>"), line.value("end_text", "</s>"));
    found = templates.emplace(source, std::move(parsed)).first;
  }
  if (!found->second) return {{"error", found->second.error().message}};
  const ChatTemplate& chat_template = **found->second;
  const CallStyle* style = chat_template.call_style();
  if (line.contains("show"))
    return {{"traits", show_traits(chat_template.traits())},
            {"style", style == nullptr ? Json() : Json(style->name)}};
  return render_request(chat_template, line);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const Json output = render_line(Json::parse(line));
    std::cout << output.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
  }
}
