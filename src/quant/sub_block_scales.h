// The twelve bytes with which Q4_K and Q5_K store a 6-bit scale and a 6-bit minimum for each of their eight
// sub-blocks of 32 columns:
//   bytes 0-3    scale 0-3 in bits 0-5;     bits 6-7: the upper two bits of scale 4-7
//   bytes 4-7    minimum 0-3 in bits 0-5;   bits 6-7: the upper two bits of minimum 4-7
//   bytes 8-11   scale 4-7, lower four bits, in bits 0-3;   minimum 4-7, lower four bits, in bits 4-7
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct SubBlockScales {
  uint8_t bytes[12];

  constexpr int scale(int sub_block) const {
    if (sub_block < 4) return bytes[sub_block] & 63;
    return (bytes[sub_block + 4] & 15) | (bytes[sub_block - 4] >> 6) << 4;
  }
  constexpr int minimum(int sub_block) const {
    if (sub_block < 4) return bytes[sub_block + 4] & 63;
    return (bytes[sub_block + 4] >> 4) | (bytes[sub_block] >> 6) << 4;
  }
  constexpr void set(int sub_block, int scale, int minimum) {
    if (sub_block < 4) {
      bytes[sub_block] = static_cast<uint8_t>((bytes[sub_block] & 0xc0) | scale);
      bytes[sub_block + 4] = static_cast<uint8_t>((bytes[sub_block + 4] & 0xc0) | minimum);
    } else {
      bytes[sub_block + 4] = static_cast<uint8_t>((scale & 15) | (minimum & 15) << 4);
      bytes[sub_block - 4] = static_cast<uint8_t>((bytes[sub_block - 4] & 63) | (scale >> 4) << 6);
      bytes[sub_block] = static_cast<uint8_t>((bytes[sub_block] & 63) | (minimum >> 4) << 6);
    }
  }
};

// Levels 0 to `top` cover [-minimum, -minimum + scale * top]. Zero always lies inside: a minimum is never
// negative.
struct SubBlockFit {
  float scale, minimum;
};

constexpr SubBlockFit fit_sub_block(const float* values, int count, int top) {
  Range range = find_range(values, count);
  if (range.low > 0.0f) range.low = 0.0f;
  if (range.high < range.low) range.high = range.low;
  return {(range.high - range.low) / static_cast<float>(top), -range.low};
}

// Chooses all scales and minima of a Q4_K or Q5_K block, and the two f16 steps they count in.
constexpr void fit_block(const float* in, int top, uint8_t* scale_step, uint8_t* minimum_step,
                         SubBlockScales& scales) {
  SubBlockFit fits[8] = {}, largest = {};
  for (int s = 0; s < 8; ++s) {
    fits[s] = fit_sub_block(in + 32 * s, 32, top);
    if (fits[s].scale > largest.scale) largest.scale = fits[s].scale;
    if (fits[s].minimum > largest.minimum) largest.minimum = fits[s].minimum;
  }
  const float step = store_half(largest.scale / 63.0f, scale_step);
  const float low_step = store_half(largest.minimum / 63.0f, minimum_step);
  scales = {};
  for (int s = 0; s < 8; ++s)
    scales.set(s, nearest_level(fits[s].scale, step, 0, 63), nearest_level(fits[s].minimum, low_step, 0, 63));
}

}  // namespace tempo9::quant
