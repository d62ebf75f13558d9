#include "server/routes.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "server/api/anthropic_errors.h"
#include "server/api/anthropic_messages.h"
#include "server/api/health.h"
#include "server/api/models.h"
#include "server/api/ollama_embeddings.h"
#include "server/api/ollama_errors.h"
#include "server/api/ollama_generation.h"
#include "server/api/ollama_models.h"
#include "server/api/openai_chat.h"
#include "server/api/openai_completions.h"
#include "server/api/openai_embeddings.h"
#include "server/api/openai_errors.h"
#include "server/api/openai_responses.h"

namespace tempo9::server {
namespace {

struct Route {
  std::string_view method;
  std::string_view path;  // a trailing '*' stands for one or more bytes
  void (*handle)(Service&, HttpRequest, std::shared_ptr<ResponseWriter>);
};

// HEAD is answered wherever GET is.
constexpr std::array kRoutes = {
    Route{"GET", "/", handle_root},
    Route{"GET", "/health", handle_health},
    Route{"GET", "/metrics", handle_metrics},
    Route{"GET", "/v1/status", handle_status},
    Route{"GET", "/v1/models", handle_models},
    Route{"GET", "/v1/models/*", handle_model},
    Route{"POST", "/v1/chat/completions", handle_openai_chat},
    Route{"POST", "/v1/completions", handle_openai_completions},
    Route{"POST", "/v1/embeddings", handle_openai_embeddings},
    Route{"GET", "/v1/responses", handle_response_socket},
    Route{"POST", "/v1/responses", handle_openai_responses},
    Route{"POST", "/v1/responses/input_tokens", handle_response_count},
    Route{"GET", "/v1/responses/*", handle_kept_response},
    Route{"DELETE", "/v1/responses/*", handle_response_deletion},
    Route{"POST", "/v1/messages", handle_anthropic_messages},
    Route{"POST", "/v1/messages/count_tokens", handle_anthropic_count},
    Route{"POST", "/api/chat", handle_ollama_chat},
    Route{"POST", "/api/generate", handle_ollama_generate},
    Route{"GET", "/api/tags", handle_ollama_tags},
    Route{"GET", "/api/ps", handle_ollama_running},
    Route{"GET", "/api/version", handle_ollama_version},
    Route{"POST", "/api/show", handle_ollama_show},
    Route{"POST", "/api/pull", handle_ollama_pull},
    Route{"POST", "/api/embed", handle_ollama_embed},
    Route{"POST", "/api/embeddings", handle_ollama_embeddings},
};

bool matches(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with('*')) return pattern == path;
  pattern.remove_suffix(1);
  return path.size() > pattern.size() && path.starts_with(pattern);
}

}  // namespace

void Application::handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) {
  const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
  std::string allowed;
  for (const Route& route : kRoutes) {
    if (!matches(route.path, request.path)) continue;
    if (route.method == method) return route.handle(service_, std::move(request), std::move(writer));
    allowed += allowed.empty() ? "" : ", ";
    allowed += route.method == "GET" ? "GET, HEAD" : route.method;
  }
  if (allowed.empty())
    return writer->send(refuse({404, fmt::format("there is nothing at {}", request.path)}, request.path));
  Response response =
      refuse({405, fmt::format("{} does not take {}; it takes {}", request.path, request.method, allowed)},
             request.path);
  response.headers.emplace_back("Allow", allowed);
  writer->send(std::move(response));
}

Response Application::refuse(const Refusal& refusal, std::string_view path) {
  if (path.starts_with("/v1/messages")) return anthropic_refusal(refusal);
  if (path.starts_with("/api/")) return ollama_refusal(refusal);
  return openai_refusal(refusal);
}

}  // namespace tempo9::server
