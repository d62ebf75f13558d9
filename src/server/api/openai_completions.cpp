#include "server/api/openai_completions.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/limits.h"
#include "server/api/generation.h"
#include "server/api/openai_errors.h"
#include "server/api/openai_fields.h"
#include "server/api/openai_reply.h"
#include "server/api/output_format.h"
#include "server/api/request_body.h"
#include "server/api/text_prompts.h"

namespace tempo9::server {
namespace {

constexpr int kDefaultTokens = 16;  // as the protocol says, for requests without `max_tokens`

constexpr std::array<UnsupportedField, 8> kUnsupported = {{
    {"echo"},
    {"suffix"},
    {"structured_outputs"},
    {"grammar"},
    {"json_schema"},
    {"guided_json"},
    {"guided_regex"},
    {"min_tokens"},
}};

constexpr std::array<std::string_view, 3> kIgnored = {"user", "metadata", "cache_prompt"};

Json logprobs_object(const std::vector<TokenReport>& tokens, bool wanted) {
  if (!wanted) return nullptr;
  Json texts = Json::array(), logprobs = Json::array(), tops = Json::array(), offsets = Json::array();
  for (const TokenReport& token : tokens) {
    Json top = Json::object();
    for (const TokenText& candidate : token.top)
      top[printable(candidate.bytes)] = finite_logprob(candidate.logprob);
    texts.push_back(printable(token.chosen.bytes));
    logprobs.push_back(finite_logprob(token.chosen.logprob));
    tops.push_back(std::move(top));
    offsets.push_back(token.text_offset);
  }
  return {{"tokens", std::move(texts)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

Json chunk_choice(const ChatDelta& delta, bool logprobs) {
  return {{"text", delta.text}, {"logprobs", logprobs_object(delta.tokens, logprobs)}};
}

constexpr OpenAiShape kCompletionShape = {
    .id_prefix = "cmpl-",
    .whole_object = "text_completion",
    .chunk_object = "text_completion",
    .whole_choice = chunk_choice,
    .chunk_choice = chunk_choice,
    .opening_choice = [] { return chunk_choice({}, false); },
    .silent_choice = [] { return chunk_choice({}, false); },
};

}  // namespace

ApiResult<ApiRequest> parse_openai_completions(std::string_view body, const engine::ModelInfo& model) {
  return parse_body<ApiRequest>(body, [&](Fields& fields, ApiRequest& request) {
    request.max_new_tokens = kDefaultTokens;
    std::vector<TextPrompt> prompts =
        read_text_prompts(fields, "prompt", model.vocabulary_size, limits::kMaxSequences);
    read_common_fields(fields, model, request);
    if (const auto top = fields.integer("logprobs", 0, limits::kMaxTopLogprobs))
      request.sampling.top_logprobs = static_cast<int>(*top);
    if (fields.integer("best_of", 1, limits::kMaxChoices).value_or(1) > 1)
      fields.refuse(ErrorCode::kUnsupported, "best_of", "choosing among several replies is not supported");
    if (prompts.size() * static_cast<size_t>(request.choices) > limits::kMaxSequences)
      fields.refuse(ErrorCode::kInvalidArgument, "n",
                    fmt::format("prompts times n must be at most {}", limits::kMaxSequences));
    read_output_format(fields, "response_format", request.output);
    refuse_unsupported(fields, kUnsupported);
    ignore(fields, kIgnored);
    request.input = std::move(prompts);
  });
}

void handle_openai_completions(Service& service, HttpRequest request,
                               std::shared_ptr<ResponseWriter> response) {
  ApiResult<ApiRequest> parsed = parse_openai_completions(request.body, service.engine().info());
  if (!parsed) return response->send(openai_error(parsed.error()));
  OpenAiReplyOptions options;
  options.request_id = request.id;
  options.model = service.model_id();
  options.created = static_cast<int64_t>(std::time(nullptr));
  options.choices =
      std::get<std::vector<TextPrompt>>(parsed->input).size() * static_cast<size_t>(parsed->choices);
  options.stream = parsed->stream;
  options.stream_usage = parsed->stream_usage;
  options.logprobs = parsed->sampling.top_logprobs >= 0;
  auto reply = make_openai_reply(kCompletionShape, std::move(options), response);
  start_generation(service, *std::move(parsed), std::move(reply), std::move(response));
}

}  // namespace tempo9::server
