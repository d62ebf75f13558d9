#include "server/api/ollama_generation.h"

#include <utility>

#include "server/api/generation.h"
#include "server/api/ollama_errors.h"
#include "server/api/ollama_reply.h"
#include "server/api/ollama_request.h"
#include "server/api/reply_parts.h"

namespace tempo9::server {
namespace {

bool only_loads(const ApiRequest& request) {
  const auto* conversation = std::get_if<chat::ChatRequest>(&request.input);
  return conversation != nullptr && conversation->messages.empty();
}

// `keep_alive: 0` is how clients ask for a model to be unloaded.
bool asks_to_unload(const std::string& body) {
  const Result<Json> json = parse_json(body);
  return json && json->is_object() && json->value("keep_alive", Json()) == 0;
}

void answer(Service& service, const HttpRequest& request, ApiResult<ApiRequest> parsed, bool chat,
            std::shared_ptr<ResponseWriter> response) {
  if (!parsed) return response->send(ollama_error(parsed.error()));
  OllamaReplyOptions options;
  options.request_id = request.id;
  options.model = parsed->model.empty() ? service.model_id() : parsed->model;
  options.chat = chat;
  options.stream = parsed->stream;
  options.logprobs = parsed->sampling.top_logprobs >= 0;
  if (only_loads(*parsed)) {
    if (const Status known = service.check_model(parsed->model); !known)
      return response->send(ollama_error({known.error().code, known.error().message, "model"}));
    return response->send(json_response(200, ollama_load_reply(options, asks_to_unload(request.body))));
  }
  auto reply = make_ollama_reply(std::move(options), response);
  start_generation(service, *std::move(parsed), std::move(reply), std::move(response));
}

}  // namespace

void handle_ollama_chat(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  answer(service, request, parse_ollama_chat(request.body, service.engine().info()), true,
         std::move(response));
}

void handle_ollama_generate(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  answer(service, request, parse_ollama_generate(request.body, service.engine().info()), false,
         std::move(response));
}

}  // namespace tempo9::server
