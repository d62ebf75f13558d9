#include "model/blocks/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tempo9::model {

std::vector<float> rope_frequencies(double theta, int dimensions) {
  std::vector<float> frequencies;
  for (int i = 0; i < dimensions / 2; ++i)
    frequencies.push_back(static_cast<float>(std::pow(theta, -2.0 * i / dimensions)));
  return frequencies;
}

Result<RopeScaling> read_rope_scaling(const gguf::Metadata& metadata, std::string_view prefix) {
  const auto key = [&](std::string_view name) { return fmt::format("{}.rope.scaling.{}", prefix, name); };
  RopeScaling scaling;
  TRY_ASSIGN(const std::string_view type, metadata.string_or(key("type"), "none"));
  if (type == "none") return scaling;
  if (type != "linear" && type != "yarn")
    return fail(ErrorCode::kUnsupported, "{} '{}' is not supported", key("type"), type);
  TRY_ASSIGN(scaling.factor, metadata.real(key("factor")));
  if (!(scaling.factor >= 1.0) || !(scaling.factor < 1e6))
    return fail(ErrorCode::kCorrupt, "{} is {}, expected at least 1", key("factor"), scaling.factor);
  if (type == "linear") return scaling;
  scaling.yarn = true;
  TRY_ASSIGN(scaling.original_context, metadata.real(key("original_context_length")));
  if (!(scaling.original_context >= 1.0))
    return fail(ErrorCode::kCorrupt, "{} is {}", key("original_context_length"), scaling.original_context);
  TRY_ASSIGN(scaling.beta_fast, metadata.real_or(key("yarn_beta_fast"), 32));
  TRY_ASSIGN(scaling.beta_slow, metadata.real_or(key("yarn_beta_slow"), 1));
  if (!(scaling.beta_fast > 0) || !(scaling.beta_slow > 0))
    return fail(ErrorCode::kCorrupt, "{} and {} must be positive", key("yarn_beta_fast"),
                key("yarn_beta_slow"));
  TRY_ASSIGN(scaling.log_multiplier, metadata.real_or(key("yarn_log_multiplier"), 0));
  return scaling;
}

RopeFrequencies scaled_rope_frequencies(double theta, int dimensions, const RopeScaling& scaling) {
  RopeFrequencies result{rope_frequencies(theta, dimensions)};
  if (!scaling.yarn) {
    for (float& f : result.values) f = static_cast<float>(f / scaling.factor);
    return result;
  }
  // The dimension that turns `beta` times within the original context.
  const auto boundary = [&](double beta) {
    return dimensions * std::log(scaling.original_context / (2 * std::numbers::pi * beta)) /
           (2 * std::log(theta));
  };
  double low = boundary(scaling.beta_fast), high = boundary(scaling.beta_slow);
  if (scaling.boundaries == RopeScaling::Boundaries::kRounded) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dimensions - 1.0);
  for (size_t i = 0; i < result.values.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / std::max(high - low, 0.001), 0.0, 1.0);
    const double f = result.values[i];
    result.values[i] = static_cast<float>(f * (1 - ramp) + f / scaling.factor * ramp);
  }
  const double log_factor = std::log(scaling.factor);
  result.magnitude =
      static_cast<float>((1 + 0.1 * log_factor) / (1 + 0.1 * scaling.log_multiplier * log_factor));
  return result;
}

Result<DeviceVector> make_device_vector(backend::Device& device, std::span<const std::byte> values) {
  DeviceVector vector;
  TRY_ASSIGN(vector.buffer, device.allocate(values.size()));
  const auto n = static_cast<int>(values.size() / sizeof(float));
  vector.view = {vector.buffer.get(), 0, 1, n, n};
  const auto stream = device.create_stream();
  stream->upload(vector.view, values);
  TRY(stream->synchronize());
  return vector;
}

}  // namespace tempo9::model
