#include "server/api/ollama_models.h"

#include <string_view>
#include <utility>

#include "server/api/fields.h"
#include "server/api/ollama_errors.h"
#include "server/api/reply_parts.h"

namespace tempo9::server {
namespace {

// Of the protocol: the Ollama release whose API is spoken here. Clients refuse releases that are too old.
constexpr const char* kVersion = "0.13.5";
// The model stays as long as the server does.
constexpr const char* kNever = "9999-12-31T23:59:59Z";

// Ollama names a model's content by a SHA-256. Clients only compare it, so ours stands for what tells two
// models apart without reading gigabytes.
std::string digest(const Service& service) {
  const engine::ModelInfo& info = service.engine().info();
  uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  const std::string identity = fmt::format("{} {} {} {} {}", service.model_id(), info.architecture,
                                           info.file_bytes, info.parameters, info.quantisation);
  for (const unsigned char byte : identity) hash = (hash ^ byte) * 0x100000001B3u;
  return fmt::format("{:016x}{:016x}{:016x}{:016x}", hash, ~hash, hash * 3, hash * 5);
}

// "134.5M"
std::string parameter_size(uint64_t parameters) {
  constexpr double kBillion = 1e9, kMillion = 1e6;
  const auto count = static_cast<double>(parameters);
  return count >= kBillion ? fmt::format("{:.1f}B", count / kBillion)
                           : fmt::format("{:.2f}M", count / kMillion);
}

Json details(const Service& service) {
  const engine::ModelInfo& info = service.engine().info();
  return {{"parent_model", ""},
          {"format", "gguf"},
          {"family", info.architecture},
          {"families", Json::array({info.architecture})},
          {"parameter_size", parameter_size(info.parameters)},
          {"quantization_level", info.quantisation}};
}

Json describe(const Service& service) {
  return {{"name", service.model_id()},
          {"model", service.model_id()},
          {"modified_at", utc_time(service.created())},
          {"size", service.engine().info().file_bytes},
          {"digest", digest(service)},
          {"details", details(service)}};
}

// The body of a request about one model, which clients call `model` or, older ones, `name`.
ApiResult<std::string> read_model(Service& service, std::string_view body) {
  const Result<Json> json = parse_json(body);
  if (!json) return api_failure(json.error());
  Faults faults;
  const FieldPath root;
  Fields fields(*json, root, faults);
  const std::string name = fields.string("name").value_or("");
  std::string model = fields.string("model").value_or(name);
  if (model.empty()) fields.refuse(ErrorCode::kInvalidArgument, "model", "this field is required");
  if (faults.first()) return tl::unexpected<ApiError>(*faults.first());
  if (const Status known = service.check_model(model); !known) return api_failure(known.error(), "model");
  return model;
}

Json capabilities(const Service& service) {
  Json list = Json::array({"completion"});
  const auto chat_template = service.chat_template();
  if (!chat_template) return list;
  if ((*chat_template)->traits().shows_tools) list.push_back("tools");
  if ((*chat_template)->shows_thinking()) list.push_back("thinking");
  return list;
}

}  // namespace

void handle_ollama_tags(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  response->send(json_response(200, {{"models", Json::array({describe(service)})}}));
}

void handle_ollama_running(Service& service, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  Json model = describe(service);
  model.erase("modified_at");
  model.update(
      {{"expires_at", kNever}, {"size_vram", 0}, {"context_length", service.engine().info().context_length}});
  response->send(json_response(200, {{"models", Json::array({model})}}));
}

void handle_ollama_version(Service&, HttpRequest, std::shared_ptr<ResponseWriter> response) {
  response->send(json_response(200, {{"version", kVersion}}));
}

void handle_ollama_show(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  const ApiResult<std::string> model = read_model(service, request.body);
  if (!model) return response->send(ollama_error(model.error()));
  const engine::ModelInfo& info = service.engine().info();
  const auto own_key = [&](const char* name) { return fmt::format("{}.{}", info.architecture, name); };
  const Json keys = {{"general.architecture", info.architecture},
                     {"general.parameter_count", info.parameters},
                     {own_key("context_length"), info.context_length},
                     {own_key("vocab_size"), info.vocabulary_size}};
  response->send(json_response(200, {{"modelfile", ""},
                                     {"parameters", ""},
                                     {"template", info.chat_template},
                                     {"details", details(service)},
                                     {"model_info", keys},
                                     {"capabilities", capabilities(service)},
                                     {"modified_at", utc_time(service.created())}}));
}

void handle_ollama_pull(Service& service, HttpRequest request, std::shared_ptr<ResponseWriter> response) {
  const ApiResult<std::string> model = read_model(service, request.body);
  if (!model) return response->send(ollama_error(model.error()));
  response->send({200, {{"Content-Type", "application/x-ndjson"}}, "{\"status\":\"success\"}\n"});
}

}  // namespace tempo9::server
