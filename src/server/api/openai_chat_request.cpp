#include "server/api/openai_chat_request.h"

#include <array>
#include <utility>

#include "base/limits.h"
#include "server/api/conversation.h"
#include "server/api/openai_fields.h"
#include "server/api/openai_messages.h"
#include "server/api/output_format.h"
#include "server/api/request_body.h"
#include "server/api/tools.h"

namespace tempo9::server {
namespace {

constexpr std::array<UnsupportedField, 13> kUnsupported = {{
    {"functions"},
    {"function_call", "auto"},
    {"audio"},
    {"web_search_options"},
    {"structured_outputs"},
    {"grammar"},
    {"json_schema"},
    {"guided_json"},
    {"guided_regex"},
    {"guided_choice"},
    {"guided_grammar"},
    {"min_tokens"},
    {"chat_template"},
}};

constexpr std::array<std::string_view, 11> kIgnored = {"user",
                                                       "metadata",
                                                       "store",
                                                       "service_tier",
                                                       "prompt_cache_key",
                                                       "prompt_cache_retention",
                                                       "safety_identifier",
                                                       "prediction",
                                                       "verbosity",
                                                       "cache_prompt",
                                                       "timings_per_token"};

void read_logprobs(Fields& fields, sample::SamplingOptions& sampling) {
  const bool wanted = fields.boolean("logprobs").value_or(false);
  const auto top = fields.integer("top_logprobs", 0, limits::kMaxTopLogprobs);
  if (wanted)
    sampling.top_logprobs = static_cast<int>(top.value_or(0));
  else if (top.value_or(0) > 0)
    fields.refuse(ErrorCode::kInvalidArgument, "top_logprobs", "needs logprobs to be true");
}

void read_modalities(Fields& fields) {
  const Json* modalities = fields.array("modalities");
  if (modalities == nullptr) return;
  for (const Json& modality : *modalities)
    if (modality != "text") fields.refuse(ErrorCode::kUnsupported, "modalities", "only 'text' is supported");
}

void read_template_options(Fields& fields, chat::ChatRequest& conversation) {
  const auto generation_prompt = fields.boolean("add_generation_prompt");
  conversation.add_generation_prompt = generation_prompt.value_or(true);
  conversation.continue_final_message = fields.boolean("continue_final_message").value_or(false);
  if (conversation.continue_final_message && generation_prompt.value_or(false))
    fields.refuse(ErrorCode::kInvalidArgument, "continue_final_message",
                  "cannot be true where add_generation_prompt is");
  if (const auto effort = fields.string("reasoning_effort")) set_effort(conversation, *effort);
  const Json* arguments = fields.object("chat_template_kwargs");
  if (arguments == nullptr) return;
  const FieldPath path = fields.path().member("chat_template_kwargs");
  if (const auto thinking = Fields(*arguments, path, fields.faults()).boolean("enable_thinking"))
    conversation.enable_thinking = *thinking;
  conversation.template_arguments = *arguments;
  conversation.template_arguments.erase("enable_thinking");
}

}  // namespace

ApiResult<ApiRequest> parse_openai_chat(std::string_view body, const engine::ModelInfo& model) {
  return parse_body<ApiRequest>(body, [&](Fields& fields, ApiRequest& request) {
    chat::ChatRequest conversation;
    read_messages(fields, conversation);
    read_common_fields(fields, model, request);
    read_logprobs(fields, request.sampling);
    read_output_format(fields, "response_format", request.output);
    read_function_tools(fields, conversation);
    read_tool_choice(fields, request.tool_choice);
    request.parallel_tool_calls = fields.boolean("parallel_tool_calls").value_or(true);
    check_tools(request, conversation, fields, "tool_choice");
    read_modalities(fields);
    read_template_options(fields, conversation);
    refuse_unsupported(fields, kUnsupported);
    ignore(fields, kIgnored);
    request.input = std::move(conversation);
  });
}

}  // namespace tempo9::server
