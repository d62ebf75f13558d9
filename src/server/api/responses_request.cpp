#include "server/api/responses_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.h"
#include "server/api/conversation.h"
#include "server/api/openai_fields.h"
#include "server/api/output_format.h"
#include "server/api/request_body.h"
#include "server/api/responses_input.h"
#include "server/api/responses_tools.h"
#include "server/api/sampling_fields.h"
#include "server/api/tools.h"

namespace tempo9::server {
namespace {

// All of them speak of something that would have to be kept here.
constexpr std::array<UnsupportedField, 3> kUnsupported = {{
    {"conversation"},
    {"background"},
    {"prompt"},
}};

constexpr std::array<std::string_view, 12> kIgnored = {
    "include",         "prompt_cache_key",   "prompt_cache_retention",
    "client_metadata", "metadata",           "user",
    "service_tier",    "safety_identifier",  "truncation",
    "max_tool_calls",  "context_management", "stream_options"};

void read_reasoning(Fields& fields, chat::ChatRequest& conversation) {
  const Json* reasoning = fields.object("reasoning");
  if (reasoning == nullptr) return;
  const FieldPath path = fields.path().member("reasoning");
  if (const auto effort = Fields(*reasoning, path, fields.faults()).string("effort"))
    set_effort(conversation, *effort);
}

void read_text_options(Fields& fields, ApiRequest& request) {
  const Json* text = fields.object("text");
  if (text == nullptr) return;
  const FieldPath path = fields.path().member("text");
  Fields members(*text, path, fields.faults());
  read_output_format(members, "format", request.output);
}

}  // namespace

ApiResult<ApiRequest> parse_openai_responses(std::string_view body, const engine::ModelInfo& model) {
  const Result<Json> json = parse_json(body);
  if (!json) return api_failure(json.error());
  return read_openai_responses(*json, model);
}

ApiResult<ApiRequest> read_openai_responses(const Json& body, const engine::ModelInfo& model) {
  return read_body<ApiRequest>(body, [&](Fields& fields, ApiRequest& request) {
    request.input_field = "input";
    chat::ChatRequest conversation;
    request.model = fields.string("model").value_or("");
    request.stream = fields.boolean("stream").value_or(false);
    fields.boolean("store");
    fields.string("previous_response_id");
    request.parallel_tool_calls = fields.boolean("parallel_tool_calls").value_or(true);
    read_max_tokens(fields, "max_output_tokens", request);
    read_sampling(fields, model, request);
    // As in Chat's `logprobs`, the number of candidates beside each token.
    if (const auto top = fields.integer("top_logprobs", 0, limits::kMaxTopLogprobs); top.value_or(0) > 0)
      request.sampling.top_logprobs = static_cast<int>(*top);
    read_reasoning(fields, conversation);
    read_text_options(fields, request);
    read_responses_tools(fields, conversation, request.unknown_fields);
    read_responses_input(fields, conversation, request.unknown_fields);
    read_tool_choice(fields, request.tool_choice);
    check_tools(request, conversation, fields, "tool_choice");
    refuse_unsupported(fields, kUnsupported);
    ignore(fields, kIgnored);
    request.input = std::move(conversation);
  });
}

}  // namespace tempo9::server
