#include "server/api/service.h"

#include <spdlog/spdlog.h>

#include <ctime>
#include <utility>

#include "base/limits.h"
#include "server/api/json_parse.h"

namespace tempo9::server {
namespace {

Result<std::shared_ptr<const chat::ChatTemplate>> load_template(const engine::ModelInfo& model) {
  if (model.chat_template.empty())
    return fail(ErrorCode::kUnsupported,
                "the model file has no chat template, so it cannot be used for chat; /v1/completions works");
  auto parsed = chat::ChatTemplate::parse(model.chat_template, model.begin_text, model.end_text);
  if (parsed) return parsed;
  spdlog::warn("the model's chat template cannot be used: {}", parsed.error().message);
  return fail(ErrorCode::kUnsupported, "the model's chat template cannot be used: {}",
              parsed.error().message);
}

}  // namespace

Service::Service(engine::Engine& engine, ServiceOptions options)
    : engine_(engine),
      options_(std::move(options)),
      created_(static_cast<int64_t>(std::time(nullptr))),
      template_(load_template(engine.info())),
      responses_(limits::kMaxStoredResponseBytes) {
  if (options_.model_id.empty()) options_.model_id = engine.info().id;
}

Status Service::check_model(const std::string& asked) const {
  if (!options_.strict_model || asked.empty() || asked == model_id()) return {};
  return fail(ErrorCode::kNotFound, "the model '{}' does not exist; this server has '{}'", asked, model_id());
}

void Service::count_call_faults(const chat::CallFaults& faults) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < faults.size(); ++i) counts_.call_faults[i] += static_cast<uint64_t>(faults[i]);
}

ServerCounts Service::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Service::note_unknown_fields(const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names) {
    if (unknown_fields_.size() >= limits::kMaxUnknownFields) return;
    if (unknown_fields_.insert(name).second) spdlog::info("ignoring the unknown field {}", Json(name).dump());
  }
}

}  // namespace tempo9::server
