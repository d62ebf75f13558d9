#include "server/api/anthropic_request.h"

#include <array>
#include <utility>

#include "server/api/anthropic_content.h"
#include "server/api/conversation.h"
#include "server/api/openai_fields.h"
#include "server/api/output_format.h"
#include "server/api/request_body.h"
#include "server/api/sampling_fields.h"
#include "server/api/tools.h"

namespace tempo9::server {
namespace {

constexpr std::array<std::string_view, 6> kIgnored = {"metadata",     "context_management", "cache_control",
                                                      "service_tier", "container",          "inference_geo"};

// Tools that Anthropic's own servers would run have a dated type and no schema.
void read_tool(const Json& value, const FieldPath& path, ApiRequest& request, chat::ChatRequest& conversation,
               Faults& faults) {
  Fields fields(value, path, faults);
  const std::string type = fields.string("type").value_or("custom");
  if (type != "custom") return request.unknown_fields.push_back(fmt::format("tools: {}", abbreviate(type)));
  const std::string name = fields.required_string("name");
  const Json* schema = fields.object("input_schema");
  chat::Tool tool =
      make_function(name, fields.string("description").value_or(""), schema == nullptr ? Json() : *schema);
  tool.strict = fields.boolean("strict").value_or(false);
  tool.eager = fields.boolean("eager_input_streaming").value_or(false);
  tool.deferred = fields.boolean("defer_loading").value_or(false);
  conversation.tools.push_back(std::move(tool));
}

void read_tools(Fields& fields, ApiRequest& request, chat::ChatRequest& conversation) {
  const Json* tools = fields.array("tools");
  if (tools == nullptr) return;
  const FieldPath path = fields.path().member("tools");
  for (size_t i = 0; i < tools->size(); ++i)
    read_tool((*tools)[i], path.element(i), request, conversation, fields.faults());
}

void read_choice(Fields& fields, ApiRequest& request) {
  const Json* value = fields.object("tool_choice");
  if (value == nullptr) return;
  const FieldPath path = fields.path().member("tool_choice");
  Fields members(*value, path, fields.faults());
  const std::string type = members.required_string("type");
  ToolChoice& choice = request.tool_choice;
  if (type == "any") {
    choice.kind = ToolChoice::Kind::kRequired;
  } else if (type == "none") {
    choice.kind = ToolChoice::Kind::kNone;
  } else if (type == "tool") {
    choice = {ToolChoice::Kind::kNamed, members.required_string("name")};
  } else if (type != "auto") {
    members.refuse(ErrorCode::kInvalidArgument, "type",
                   fmt::format("'{}' is not one of auto, any, tool, none", abbreviate(type)));
  }
  request.parallel_tool_calls = !members.boolean("disable_parallel_tool_use").value_or(false);
}

// Without `thinking` the protocol does not think.
void read_thinking(Fields& fields, ApiRequest& request, chat::ChatRequest& conversation) {
  conversation.enable_thinking = false;
  if (const Json* thinking = fields.object("thinking")) {
    const FieldPath path = fields.path().member("thinking");
    Fields members(*thinking, path, fields.faults());
    const std::string type = members.required_string("type");
    conversation.enable_thinking = type == "enabled" || type == "adaptive";
    if (!*conversation.enable_thinking && type != "disabled")
      members.refuse(ErrorCode::kInvalidArgument, "type",
                     fmt::format("'{}' is not one of enabled, adaptive, disabled", abbreviate(type)));
  }
  const Json* config = fields.object("output_config");
  if (config == nullptr) return;
  const FieldPath path = fields.path().member("output_config");
  Fields members(*config, path, fields.faults());
  if (const auto effort = members.string("effort")) set_effort(conversation, *effort);
  read_output_format(members, "format", request.output);
}

}  // namespace

ApiResult<ApiRequest> parse_anthropic_messages(std::string_view body, const engine::ModelInfo& model) {
  return parse_body<ApiRequest>(body, [&](Fields& fields, ApiRequest& request) {
    chat::ChatRequest conversation;
    request.model = fields.string("model").value_or("");
    request.stream = fields.boolean("stream").value_or(false);
    read_max_tokens(fields, "max_tokens", request);
    read_stop(fields, "stop_sequences", request);
    read_sampling(fields, model, request);
    read_tools(fields, request, conversation);
    read_choice(fields, request);
    check_tools(request, conversation, fields, "tool_choice");
    read_thinking(fields, request, conversation);
    read_anthropic_content(fields, conversation, request.unknown_fields);
    ignore(fields, kIgnored);
    request.input = std::move(conversation);
  });
}

}  // namespace tempo9::server
