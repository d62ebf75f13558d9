#include "server/api/openai_chat.h"

#include <array>
#include <ctime>
#include <utility>

#include "base/limits.h"
#include "server/api/conversation.h"
#include "server/api/generation.h"
#include "server/api/openai_errors.h"
#include "server/api/openai_fields.h"
#include "server/api/openai_messages.h"
#include "server/api/openai_reply.h"
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

Json logprobs_object(const std::vector<TokenReport>& tokens, bool wanted) {
  if (!wanted) return nullptr;
  return {{"content", logprob_entries(tokens)}, {"refusal", nullptr}};
}

Json whole_choice(const ChatDelta& reply, bool logprobs) {
  Json message = {{"role", "assistant"}, {"content", reply.text}, {"refusal", nullptr}};
  if (!reply.reasoning.empty()) message["reasoning_content"] = reply.reasoning;
  return {{"message", std::move(message)}, {"logprobs", logprobs_object(reply.tokens, logprobs)}};
}

Json delta_choice(Json delta, Json logprobs) {
  return {{"delta", std::move(delta)}, {"logprobs", std::move(logprobs)}};
}

Json chunk_choice(const ChatDelta& delta, bool logprobs) {
  Json content = Json::object();
  if (!delta.reasoning.empty()) content["reasoning_content"] = delta.reasoning;
  if (!delta.text.empty() || delta.reasoning.empty()) content["content"] = delta.text;
  return delta_choice(std::move(content), logprobs_object(delta.tokens, logprobs));
}

constexpr OpenAiShape kChatShape = {
    .id_prefix = "chatcmpl-",
    .whole_object = "chat.completion",
    .chunk_object = "chat.completion.chunk",
    .whole_choice = whole_choice,
    .chunk_choice = chunk_choice,
    .opening_choice =
        [] {
          return delta_choice({{"role", "assistant"}, {"content", ""}}, nullptr);
        },
    .silent_choice = [] { return delta_choice(Json::object(), nullptr); },
};

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

void handle_openai_chat(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  ApiResult<ApiRequest> parsed = parse_openai_chat(request.body, service.engine().info());
  if (!parsed) return response->send(openai_error(parsed.error()));
  OpenAiReplyOptions options;
  options.request_id = request.id;
  options.model = service.model_id();
  options.created = static_cast<int64_t>(std::time(nullptr));
  options.choices = static_cast<size_t>(parsed->choices);
  options.stream = parsed->stream;
  options.stream_usage = parsed->stream_usage;
  options.logprobs = parsed->sampling.top_logprobs >= 0;
  auto reply = make_openai_reply(kChatShape, std::move(options), response);
  start_generation(service, *std::move(parsed), std::move(reply), std::move(response));
}

}  // namespace tempo9::server
