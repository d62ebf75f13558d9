#include "server/api/models.h"

#include "server/api/anthropic_errors.h"
#include "server/api/openai_errors.h"
#include "server/api/query.h"
#include "server/api/reply_parts.h"

namespace tempo9::server {
namespace {

Json model_object(const Service& service) {
  const engine::ModelInfo& info = service.engine().info();
  return {{"id", service.model_id()},
          {"object", "model"},
          {"type", "model"},
          {"created", service.created()},
          {"created_at", utc_time(service.created())},
          {"display_name", service.model_id()},
          {"owned_by", "tempo9"},
          {"context_length", info.context_length},
          {"max_model_len", info.context_length},
          {"architecture", info.architecture},
          {"quantisation", info.quantisation},
          {"parameters", info.parameters}};
}

}  // namespace

void handle_models(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  response->send(json_response(200, {{"object", "list"},
                                     {"data", Json::array({model_object(service)})},
                                     {"has_more", false},
                                     {"first_id", service.model_id()},
                                     {"last_id", service.model_id()}}));
}

void handle_model(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  constexpr std::string_view kPrefix = "/v1/models/";
  const std::string id = percent_decoded(std::string_view(request.path).substr(kPrefix.size()));
  if (id == service.model_id()) return response->send(json_response(200, model_object(service)));
  const ApiError error{
      ErrorCode::kNotFound,
      fmt::format("the model '{}' does not exist; this server has '{}'", abbreviate(id), service.model_id()),
      "model"};
  const bool anthropic = !request.header("anthropic-version").empty();
  response->send(anthropic ? anthropic_error(error, request.id) : openai_error(error));
}

}  // namespace tempo9::server
