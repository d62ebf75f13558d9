#include "server/api/openai_chat.h"

#include <ctime>
#include <utility>

#include "server/api/generation.h"
#include "server/api/openai_chat_reply.h"
#include "server/api/openai_chat_request.h"
#include "server/api/openai_errors.h"

namespace tempo9::server {

void handle_openai_chat(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  ApiResult<ApiRequest> parsed = parse_openai_chat(request.body, service.engine().info());
  if (!parsed) return response->send(openai_error(parsed.error()));
  OpenAiReplyOptions options;
  options.request_id = request.id;
  options.model = service.model_id();
  options.created = static_cast<int64_t>(std::time(nullptr));
  options.choices = static_cast<size_t>(parsed->choices);
  options.tools = CalledTools(std::get<chat::ChatRequest>(parsed->input).tools);
  options.stream = parsed->stream;
  options.stream_usage = parsed->stream_usage;
  options.logprobs = parsed->sampling.top_logprobs >= 0;
  auto reply = make_openai_chat_reply(std::move(options), response);
  start_generation(service, *std::move(parsed), std::move(reply), std::move(response));
}

}  // namespace tempo9::server
