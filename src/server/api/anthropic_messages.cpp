#include "server/api/anthropic_messages.h"

#include <utility>

#include "server/api/anthropic_errors.h"
#include "server/api/anthropic_reply.h"
#include "server/api/anthropic_request.h"
#include "server/api/generation.h"
#include "server/api/prompts.h"
#include "server/api/reply_parts.h"

namespace tempo9::server {
void handle_anthropic_messages(Service& service, HttpRequest request,
                               std::shared_ptr<ResponseWriter> response) {
  ApiResult<ApiRequest> parsed = parse_anthropic_messages(request.body, service.engine().info());
  if (!parsed) return response->send(anthropic_error(parsed.error(), request.id));
  const auto& conversation = std::get<chat::ChatRequest>(parsed->input);
  AnthropicReplyOptions options;
  options.request_id = request.id;
  options.model = service.model_id();
  options.stream = parsed->stream;
  options.tools = CalledTools(conversation.tools);
  options.thinking = conversation.enable_thinking.value_or(false);
  auto reply = make_anthropic_reply(std::move(options), response);
  start_generation(service, *std::move(parsed), std::move(reply), std::move(response));
}

void handle_anthropic_count(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  const ApiResult<int> tokens =
      count_tokens(service, parse_anthropic_messages(request.body, service.engine().info()));
  response->send(tokens ? json_response(200, {{"input_tokens", *tokens}})
                        : anthropic_error(tokens.error(), request.id));
}

}  // namespace tempo9::server
