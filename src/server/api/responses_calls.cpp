#include "server/api/responses_calls.h"

#include <utility>

namespace tempo9::server {

const CallForm& form_of(const ClientCall& call) {
  static constexpr CallForm kFunction{"function_call", "fc_", "arguments",
                                      "response.function_call_arguments.delta",
                                      "response.function_call_arguments.done"};
  static constexpr CallForm kFreeform{"custom_tool_call", "ctc_", "input",
                                      "response.custom_tool_call_input.delta",
                                      "response.custom_tool_call_input.done"};
  static constexpr CallForm kToolSearch{"tool_search_call", "tsc_", "arguments", nullptr, nullptr};
  switch (call.tool.kind) {
    case chat::Tool::Kind::kFunction:
      break;
    case chat::Tool::Kind::kFreeform:
      return kFreeform;
    case chat::Tool::Kind::kToolSearch:
      return kToolSearch;
  }
  return kFunction;
}

Json call_item(const ClientCall& call, const std::string& item_id, const std::string& call_id) {
  const CallForm& form = form_of(call);
  Json item = {{"id", item_id}, {"type", form.type}, {"status", "in_progress"}, {"call_id", call_id}};
  if (call.tool.kind == chat::Tool::Kind::kToolSearch) {
    item["execution"] = "client";
    item[form.member] = Json::object();
    return item;
  }
  if (!call.tool.name_space.empty()) item["namespace"] = call.tool.name_space;
  item["name"] = call.tool.name;
  item[form.member] = "";
  return item;
}

}  // namespace tempo9::server
