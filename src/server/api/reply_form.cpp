#include "server/api/reply_form.h"

#include <algorithm>

namespace tempo9::server {
namespace {

std::optional<grammar::Form> answer_of(const OutputFormat& output) {
  if (output.kind == OutputFormat::Kind::kText) return std::nullopt;
  const bool any = output.kind == OutputFormat::Kind::kJson;
  return grammar::schema_form(any ? chat::Json{{"type", "object"}} : output.schema, output.field);
}

}  // namespace

std::string form_field(const ApiRequest& request) {
  return request.output.kind == OutputFormat::Kind::kText ? "tools" : request.output.field;
}

ApiResult<std::optional<grammar::Form>> reply_form(const ApiRequest& request, const chat::ReplyStart& start) {
  const auto* conversation = std::get_if<chat::ChatRequest>(&request.input);
  const ToolChoice& choice = request.tool_choice;
  const bool may_call = conversation != nullptr && choice.kind != ToolChoice::Kind::kNone;
  const std::span<const chat::Tool> tools = may_call ? conversation->tools : std::span<const chat::Tool>();
  chat::CallDemands demands{.several = request.parallel_tool_calls};
  demands.required = choice.kind == ToolChoice::Kind::kRequired || choice.kind == ToolChoice::Kind::kNamed;
  if (choice.kind == ToolChoice::Kind::kNamed)
    demands.only = &*std::ranges::find(tools, choice.name, &chat::Tool::name);
  auto form = chat::call_form(start, tools, demands, answer_of(request.output));
  if (!form) {
    const char* field = demands.required ? "tool_choice" : "tools";
    return api_failure({form.error().code, fmt::format("{}: {}", field, form.error().message)}, field);
  }
  return *std::move(form);
}

}  // namespace tempo9::server
