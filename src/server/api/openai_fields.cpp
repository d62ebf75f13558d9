#include "server/api/openai_fields.h"

#include "base/limits.h"
#include "server/api/sampling_fields.h"

namespace tempo9::server {
namespace {

// Whether a value asks for nothing.
bool is_void(const Json& value, std::string_view harmless) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  if (value.is_string()) return value == "" || value == "none" || value == harmless;
  return value.empty();
}

}  // namespace

void read_common_fields(Fields& fields, const engine::ModelInfo& model, ApiRequest& request) {
  request.model = fields.string("model").value_or("");
  request.stream = fields.boolean("stream").value_or(false);
  if (const Json* options = fields.object("stream_options")) {
    const FieldPath path = fields.path().member("stream_options");
    request.stream_usage = Fields(*options, path, fields.faults()).boolean("include_usage").value_or(false);
  }
  request.choices = static_cast<int>(fields.integer("n", 1, limits::kMaxChoices).value_or(1));
  for (const std::string_view name : {"max_tokens", "max_completion_tokens"})
    read_max_tokens(fields, name, request);
  request.ignore_end = fields.boolean("ignore_eos").value_or(false);
  read_stop(fields, "stop", request);
  read_sampling(fields, model, request);
}

void refuse_unsupported(Fields& fields, std::span<const UnsupportedField> unsupported) {
  for (const auto& [name, harmless] : unsupported) {
    const Json* value = fields.any(name);
    if (value != nullptr && !is_void(*value, harmless))
      fields.refuse(ErrorCode::kUnsupported, name, "this server does not support this field yet");
  }
}

void ignore(Fields& fields, std::span<const std::string_view> names) {
  for (const std::string_view name : names) fields.any(name);
}

}  // namespace tempo9::server
