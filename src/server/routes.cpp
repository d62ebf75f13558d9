#include "server/routes.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "server/api/health.h"
#include "server/api/models.h"
#include "server/api/openai_chat.h"
#include "server/api/openai_completions.h"
#include "server/api/openai_errors.h"

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

Response Application::refuse(const Refusal& refusal, std::string_view) {
  return openai_refusal(refusal);
}

}  // namespace tempo9::server
