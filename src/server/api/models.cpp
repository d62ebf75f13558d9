#include "server/api/models.h"

#include <cctype>
#include <charconv>
#include <ctime>

#include "server/api/openai_errors.h"

namespace tempo9::server {
namespace {

// RFC 3339: "2025-01-31T12:00:00Z".
std::string utc_time(int64_t seconds) {
  const auto moment = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  gmtime_r(&moment, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, length);
}

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

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const bool coded = text[i] == '%' && i + 2 < text.size() &&
                       std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
                       std::isxdigit(static_cast<unsigned char>(text[i + 2]));
    if (coded) {
      std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

Response json_answer(const Json& body) {
  return {200, {{"Content-Type", "application/json"}}, dump_json(body)};
}

}  // namespace

void handle_models(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  response->send(json_answer({{"object", "list"},
                              {"data", Json::array({model_object(service)})},
                              {"has_more", false},
                              {"first_id", service.model_id()},
                              {"last_id", service.model_id()}}));
}

void handle_model(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  constexpr std::string_view kPrefix = "/v1/models/";
  const std::string id = percent_decoded(std::string_view(request.path).substr(kPrefix.size()));
  if (id == service.model_id()) return response->send(json_answer(model_object(service)));
  response->send(openai_error(
      {ErrorCode::kNotFound,
       fmt::format("the model '{}' does not exist; this server has '{}'", abbreviate(id), service.model_id()),
       "model"}));
}

}  // namespace tempo9::server
