// Q5_K: 256 columns in eight sub-blocks of 32, 5 bits each.
//   value = (scale_step * scale[s]) * level - (minimum_step * minimum[s]), level 0 to 31
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"
#include "quant/sub_block_scales.h"

namespace tempo9::quant {

struct BlockQ5_K {
  static constexpr int kColumns = 256;
  uint8_t scale_step[2];    // f16
  uint8_t minimum_step[2];  // f16
  SubBlockScales scales;
  uint8_t high_bit[32];  // bit s of byte i: bit 4 of the level of column i of sub-block s
  // Lower four bits. Byte 32 p + i: column i of sub-block 2 p in the low half, of sub-block 2 p + 1 in the
  // high one.
  uint8_t levels[128];
};
static_assert(sizeof(BlockQ5_K) == 176);

constexpr void decode(const BlockQ5_K& block, float* out) {
  const float scale_step = load_half(block.scale_step);
  const float minimum_step = load_half(block.minimum_step);
  for (int s = 0; s < 8; ++s) {
    const float scale = scale_step * static_cast<float>(block.scales.scale(s));
    const float minimum = minimum_step * static_cast<float>(block.scales.minimum(s));
    const uint8_t* levels = block.levels + s / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const int level = (levels[i] >> (s % 2 * 4) & 15) | (block.high_bit[i] >> s & 1) << 4;
      out[32 * s + i] = scale * static_cast<float>(level) - minimum;
    }
  }
}

constexpr void encode(const float* in, BlockQ5_K& block) {
  fit_block(in, 31, block.scale_step, block.minimum_step, block.scales);
  const float scale_step = load_half(block.scale_step);
  const float minimum_step = load_half(block.minimum_step);
  for (uint8_t& byte : block.levels) byte = 0;
  for (uint8_t& byte : block.high_bit) byte = 0;
  for (int s = 0; s < 8; ++s) {
    const float scale = scale_step * static_cast<float>(block.scales.scale(s));
    const float minimum = minimum_step * static_cast<float>(block.scales.minimum(s));
    for (int i = 0; i < 32; ++i) {
      const int level = nearest_level(in[32 * s + i] + minimum, scale, 0, 31);
      block.levels[s / 2 * 32 + i] |= static_cast<uint8_t>((level & 15) << (s % 2 * 4));
      block.high_bit[i] |= static_cast<uint8_t>((level >> 4) << s);
    }
  }
}

}  // namespace tempo9::quant
