// Q8_0: 32 columns, 8 bits each, one scale.
//   value = level * scale, level -128 to 127
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockQ8_0 {
  static constexpr int kColumns = 32;
  uint8_t scale[2];  // f16
  int8_t levels[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

constexpr void decode(const BlockQ8_0& block, float* out) {
  const float scale = load_half(block.scale);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(block.levels[i]) * scale;
}

constexpr void encode(const float* in, BlockQ8_0& block) {
  const float peak = signed_peak(in, 32);
  const float scale = store_half((peak < 0.0f ? -peak : peak) / 127.0f, block.scale);
  for (int i = 0; i < 32; ++i) block.levels[i] = static_cast<int8_t>(nearest_level(in[i], scale, -127, 127));
}

}  // namespace tempo9::quant
