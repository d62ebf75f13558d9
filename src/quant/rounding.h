// What the encoders share: range of a block and rounding to a level.
#pragma once

namespace tempo9::quant {

// value / step to the nearest integer, half away from zero, within [low, high]. A step of zero gives the
// level nearest to zero; NaN gives `low`.
constexpr int nearest_level(float value, float step, int low, int high) {
  const float level = step != 0.0f ? value / step : 0.0f;
  if (!(level > static_cast<float>(low))) return low;
  if (level >= static_cast<float>(high)) return high;
  return static_cast<int>(level < 0.0f ? level - 0.5f : level + 0.5f);
}

// The value of largest magnitude, with its sign.
constexpr float signed_peak(const float* values, int count) {
  float peak = 0.0f, magnitude = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float m = values[i] < 0.0f ? -values[i] : values[i];
    if (m > magnitude) {
      magnitude = m;
      peak = values[i];
    }
  }
  return peak;
}

struct Range {
  float low, high;
};

constexpr Range find_range(const float* values, int count) {
  Range range = {values[0], values[0]};
  for (int i = 1; i < count; ++i) {
    if (values[i] < range.low) range.low = values[i];
    if (values[i] > range.high) range.high = values[i];
  }
  return range;
}

}  // namespace tempo9::quant
