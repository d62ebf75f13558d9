#include "server/api/client_calls.h"

#include <fmt/format.h>

#include <utility>

#include "server/api/reply_parts.h"

namespace tempo9::server {

CalledTools::CalledTools(const std::vector<chat::Tool>& tools) {
  for (const chat::Tool& tool : tools)
    by_name_.try_emplace(
        tool.name, CalledTool{tool.kind, tool.name_space, tool.own_name.empty() ? tool.name : tool.own_name,
                              tool.eager});
}

CalledTool CalledTools::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? CalledTool{chat::Tool::Kind::kFunction, "", name, false} : found->second;
}

std::string call_id(std::string_view prefix, std::string_view request_id, int choice, int index) {
  return fmt::format("{}{:02}{:02}", derive_id(prefix, request_id), choice, index);
}

ClientCalls::Step ClientCalls::take(const chat::CallDelta& piece) {
  Step step{!piece.name.empty(), piece.arguments, piece.finished, piece.withdrawn};
  if (step.begins) {
    call_ = {piece.index, tools_->find(piece.name), ""};
    input_ = {};
  }
  if (call_.freeform()) {
    step.added = input_.push(piece.arguments);
    if (piece.finished) step.added += input_.finish();
  } else if (piece.withdrawn && call_.text.empty() && step.added.empty()) {
    step.added = "{";
  }
  call_.text += step.added;
  return step;
}

Json arguments_object(const std::string& text) {
  Result<Json> parsed = parse_json(text);
  return parsed && parsed->is_object() ? *std::move(parsed) : Json::object();
}

}  // namespace tempo9::server
