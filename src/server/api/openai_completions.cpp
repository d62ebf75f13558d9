#include "server/api/openai_completions.h"

#include <ctime>
#include <utility>

#include "server/api/generation.h"
#include "server/api/openai_completions_request.h"
#include "server/api/openai_errors.h"
#include "server/api/openai_reply.h"

namespace tempo9::server {
namespace {

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
    .whole_choice = [](const ChatDelta& reply, Json, bool logprobs) { return chunk_choice(reply, logprobs); },
    .chunk_choice = chunk_choice,
    .call_choice = nullptr,
    .opening_choice = [] { return chunk_choice({}, false); },
    .silent_choice = [] { return chunk_choice({}, false); },
};

}  // namespace

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
