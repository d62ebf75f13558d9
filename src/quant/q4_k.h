// Q4_K: 256 columns in eight sub-blocks of 32, 4 bits each.
//   value = (scale_step * scale[s]) * level - (minimum_step * minimum[s]), level 0 to 15
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"
#include "quant/sub_block_scales.h"

namespace tempo9::quant {

struct BlockQ4_K {
  static constexpr int kColumns = 256;
  uint8_t scale_step[2];    // f16
  uint8_t minimum_step[2];  // f16
  SubBlockScales scales;
  // Byte 32 p + i: column i of sub-block 2 p in the low four bits, of sub-block 2 p + 1 in the high ones.
  uint8_t levels[128];
};
static_assert(sizeof(BlockQ4_K) == 144);

constexpr void decode(const BlockQ4_K& block, float* out) {
  const float scale_step = load_half(block.scale_step);
  const float minimum_step = load_half(block.minimum_step);
  for (int s = 0; s < 8; ++s) {
    const float scale = scale_step * static_cast<float>(block.scales.scale(s));
    const float minimum = minimum_step * static_cast<float>(block.scales.minimum(s));
    const uint8_t* levels = block.levels + s / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const int level = levels[i] >> (s % 2 * 4) & 15;
      out[32 * s + i] = scale * static_cast<float>(level) - minimum;
    }
  }
}

constexpr void encode(const float* in, BlockQ4_K& block) {
  fit_block(in, 15, block.scale_step, block.minimum_step, block.scales);
  const float scale_step = load_half(block.scale_step);
  const float minimum_step = load_half(block.minimum_step);
  for (uint8_t& byte : block.levels) byte = 0;
  for (int s = 0; s < 8; ++s) {
    const float scale = scale_step * static_cast<float>(block.scales.scale(s));
    const float minimum = minimum_step * static_cast<float>(block.scales.minimum(s));
    for (int i = 0; i < 32; ++i) {
      const int level = nearest_level(in[32 * s + i] + minimum, scale, 0, 15);
      block.levels[s / 2 * 32 + i] |= static_cast<uint8_t>(level << (s % 2 * 4));
    }
  }
}

}  // namespace tempo9::quant
