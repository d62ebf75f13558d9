#include "server/api/ollama_embeddings.h"

#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "base/limits.h"
#include "server/api/embeddings.h"
#include "server/api/ollama_errors.h"
#include "server/api/openai_fields.h"
#include "server/api/reply_parts.h"
#include "server/api/request_body.h"
#include "server/api/text_prompts.h"

namespace tempo9::server {
namespace {

constexpr std::array<std::string_view, 2> kEmbeddingIgnored = {"keep_alive", "options"};

// The texts of `field`. A request without any asks for the model to be loaded.
ApiResult<EmbeddingRequest> parse_embed(std::string_view body, const engine::ModelInfo& model,
                                        std::string_view field) {
  return parse_body<EmbeddingRequest>(body, [&](Fields& fields, EmbeddingRequest& request) {
    request.input_field = field;
    request.model = fields.string("model").value_or("");
    request.truncate = fields.boolean("truncate").value_or(true);
    request.dimensions =
        static_cast<int>(fields.integer("dimensions", 0, std::numeric_limits<int>::max()).value_or(0));
    const Json* input = fields.any(field);
    const bool nothing = input == nullptr || *input == "" || *input == Json::array();
    if (!nothing)
      request.inputs = read_text_prompts(fields, field, model.vocabulary_size, limits::kMaxEmbeddingInputs);
    ignore(fields, kEmbeddingIgnored);
  });
}

}  // namespace

void handle_ollama_embed(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  const auto parsed = parse_embed(request.body, service.engine().info(), "input");
  if (!parsed) return response->send(ollama_error(parsed.error()));
  const auto begin = std::chrono::steady_clock::now();
  auto answer = [&service, response, begin, model = parsed->model](const ApiResult<Embeddings>& result) {
    if (!result) return response->send(ollama_error(result.error()));
    const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begin;
    Json body = {{"model", model},
                 {"embeddings", result->vectors},
                 {"total_duration", time.count()},
                 {"load_duration", 0},
                 {"prompt_eval_count", result->prompt_tokens}};
    body.update(describe_pooling(service));
    response->send(json_response(200, body));
  };
  start_embedding(service, *parsed, response, std::move(answer));
}

void handle_ollama_embeddings(Service& service, HttpRequest request,
                              std::shared_ptr<ResponseWriter> response) {
  const auto parsed = parse_embed(request.body, service.engine().info(), "prompt");
  if (!parsed) return response->send(ollama_error(parsed.error()));
  auto answer = [&service, response](const ApiResult<Embeddings>& result) {
    if (!result) return response->send(ollama_error(result.error()));
    Json body = {{"embedding", result->vectors.empty() ? std::vector<float>() : result->vectors.front()}};
    body.update(describe_pooling(service));
    response->send(json_response(200, body));
  };
  start_embedding(service, *parsed, response, std::move(answer));
}

}  // namespace tempo9::server
