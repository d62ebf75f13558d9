#include "server/api/sampling_fields.h"

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

}  // namespace

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

void read_stop(Fields& fields, std::string_view name, ApiRequest& request) {
  const Json* value = fields.any(name);
  if (value == nullptr) return;
  const FieldPath path = fields.path().member(name);
  const auto add = [&](const Json& element, const FieldPath& place) {
    const auto* text = element.get_ptr<const std::string*>();
    if (text == nullptr)
      fields.faults().report(ErrorCode::kInvalidArgument, place,
                             fmt::format("expected a string, but got {}", kind_of(element)));
    else if (text->empty() || text->size() > limits::kMaxStopStringBytes)
      fields.faults().report(ErrorCode::kInvalidArgument, place,
                             fmt::format("must have 1 to {} bytes", limits::kMaxStopStringBytes));
    else
      request.stop.push_back(*text);
  };
  if (value->is_string()) return add(*value, path);
  if (!value->is_array())
    return fields.refuse(
        ErrorCode::kInvalidArgument, name,
        fmt::format("expected a string or an array of strings, but got {}", kind_of(*value)));
  if (value->size() > limits::kMaxStopStrings)
    return fields.refuse(ErrorCode::kInvalidArgument, name,
                         fmt::format("at most {} stop strings are allowed", limits::kMaxStopStrings));
  for (size_t i = 0; i < value->size(); ++i) add((*value)[i], path.element(i));
}

void read_max_tokens(Fields& fields, std::string_view name, ApiRequest& request) {
  const auto most = fields.integer(name, -1, kMaxInt);
  if (most == 0) fields.refuse(ErrorCode::kInvalidArgument, name, "must be at least 1");
  if (most) request.max_new_tokens = static_cast<int>(std::max<int64_t>(*most, 0));
}

}  // namespace tempo9::server
