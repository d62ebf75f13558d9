#include "server/api/openai_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/limits.h"

namespace tempo9::server {
namespace {

constexpr double kMostTemperature = 100;  // beyond it every token is as likely as any other
constexpr int64_t kMaxInt = std::numeric_limits<int>::max();

void set(float& option, std::optional<double> value) {
  if (value) option = static_cast<float>(*value);
}

// "50256": 1.5. Clients send ids as keys.
void read_logit_bias(Fields& fields, int vocabulary_size, sample::SamplingOptions& sampling) {
  const Json* object = fields.object("logit_bias");
  if (object == nullptr) return;
  if (object->size() > limits::kMaxLogitBiases)
    return fields.refuse(ErrorCode::kInvalidArgument, "logit_bias",
                         fmt::format("at most {} entries are allowed", limits::kMaxLogitBiases));
  const FieldPath path = fields.path().member("logit_bias");
  Fields biases(*object, path, fields.faults());
  for (const auto& [key, value] : object->items()) {
    TokenId token = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (error != std::errc() || end != key.data() + key.size() || token < 0 || token >= vocabulary_size)
      biases.refuse(ErrorCode::kInvalidArgument, key,
                    fmt::format("the key must be a token id from 0 to {}", vocabulary_size - 1));
    if (const auto bias = biases.number(key, -100, 100))
      sampling.logit_bias.emplace_back(token, static_cast<float>(*bias));
  }
}

void read_sampling(Fields& fields, const engine::ModelInfo& model, ApiRequest& request) {
  sample::SamplingOptions& sampling = request.sampling;
  set(sampling.temperature, fields.number("temperature", 0, kMostTemperature));
  // 0 is sent for "the most probable token only", which any share above 0 keeps.
  if (const auto top_p = fields.number("top_p", 0, 1))
    sampling.top_p = std::max(static_cast<float>(*top_p), std::numeric_limits<float>::min());
  if (const auto top_k = fields.integer("top_k", -1, kMaxInt)) sampling.top_k = std::max<int>(*top_k, 0);
  set(sampling.min_p, fields.number("min_p", 0, 1));
  set(sampling.presence_penalty, fields.number("presence_penalty", -2, 2));
  set(sampling.frequency_penalty, fields.number("frequency_penalty", -2, 2));
  for (const std::string_view name : {"repetition_penalty", "repeat_penalty"})
    set(sampling.repetition_penalty, fields.number(name, 0.01, 100));
  read_logit_bias(fields, model.vocabulary_size, sampling);
  if (const auto seed =
          fields.integer("seed", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()))
    request.seed = static_cast<uint64_t>(*seed);
}

void read_stop(Fields& fields, std::vector<std::string>& stop) {
  const Json* value = fields.any("stop");
  if (value == nullptr) return;
  const FieldPath path = fields.path().member("stop");
  const auto add = [&](const Json& element, const FieldPath& place) {
    const auto* text = element.get_ptr<const std::string*>();
    if (text == nullptr)
      fields.faults().report(ErrorCode::kInvalidArgument, place,
                             fmt::format("expected a string, but got {}", kind_of(element)));
    else if (text->empty() || text->size() > limits::kMaxStopStringBytes)
      fields.faults().report(ErrorCode::kInvalidArgument, place,
                             fmt::format("must have 1 to {} bytes", limits::kMaxStopStringBytes));
    else
      stop.push_back(*text);
  };
  if (value->is_string()) return add(*value, path);
  if (!value->is_array())
    return fields.refuse(
        ErrorCode::kInvalidArgument, "stop",
        fmt::format("expected a string or an array of strings, but got {}", kind_of(*value)));
  if (value->size() > limits::kMaxStopStrings)
    return fields.refuse(ErrorCode::kInvalidArgument, "stop",
                         fmt::format("at most {} stop strings are allowed", limits::kMaxStopStrings));
  for (size_t i = 0; i < value->size(); ++i) add((*value)[i], path.element(i));
}

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
  // -1 is what several clients send for "no limit".
  for (const std::string_view name : {"max_tokens", "max_completion_tokens"}) {
    const auto most = fields.integer(name, -1, kMaxInt);
    if (most == 0) fields.refuse(ErrorCode::kInvalidArgument, name, "must be at least 1");
    if (most) request.max_new_tokens = static_cast<int>(std::max<int64_t>(*most, 0));
  }
  read_stop(fields, request.stop);
  read_sampling(fields, model, request);
}

void read_response_format(Fields& fields) {
  const Json* format = fields.object("response_format");
  if (format == nullptr) return;
  const FieldPath path = fields.path().member("response_format");
  const std::string type = Fields(*format, path, fields.faults()).required_string("type");
  if (type != "text")
    fields.refuse(ErrorCode::kUnsupported, "response_format",
                  fmt::format("'{}' is not supported yet; only 'text' is", abbreviate(type)));
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
