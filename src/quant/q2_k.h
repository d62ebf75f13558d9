// Q2_K: 256 columns in sixteen sub-blocks of 16, 2 bits each.
//   value = (scale_step * scale[s]) * level - (minimum_step * minimum[s]), level 0 to 3
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"
#include "quant/sub_block_scales.h"

namespace tempo9::quant {

struct BlockQ2_K {
  static constexpr int kColumns = 256;
  uint8_t scales[16];  // byte s: scale of sub-block s in the low four bits, its minimum in the high ones
  // The two halves of 128 columns one after the other, 32 bytes each: column 32 g + i of a half (g 0 to 3) is
  // in byte i, shifted by 2 g.
  uint8_t levels[64];
  uint8_t scale_step[2];    // f16
  uint8_t minimum_step[2];  // f16
};
static_assert(sizeof(BlockQ2_K) == 84);

constexpr void decode(const BlockQ2_K& block, float* out) {
  const float scale_step = load_half(block.scale_step);
  const float minimum_step = load_half(block.minimum_step);
  for (int column = 0; column < 256; ++column) {
    const int half = column / 128, group = column / 32 % 4, i = column % 32;
    const uint8_t scales = block.scales[column / 16];
    const float scale = scale_step * static_cast<float>(scales & 15);
    const float minimum = minimum_step * static_cast<float>(scales >> 4);
    const int level = block.levels[32 * half + i] >> (2 * group) & 3;
    out[column] = scale * static_cast<float>(level) - minimum;
  }
}

constexpr void encode(const float* in, BlockQ2_K& block) {
  SubBlockFit fits[16] = {}, largest = {};
  for (int s = 0; s < 16; ++s) {
    fits[s] = fit_sub_block(in + 16 * s, 16, 3);
    if (fits[s].scale > largest.scale) largest.scale = fits[s].scale;
    if (fits[s].minimum > largest.minimum) largest.minimum = fits[s].minimum;
  }
  const float scale_step = store_half(largest.scale / 15.0f, block.scale_step);
  const float minimum_step = store_half(largest.minimum / 15.0f, block.minimum_step);
  for (int s = 0; s < 16; ++s) {
    const int scale = nearest_level(fits[s].scale, scale_step, 0, 15);
    const int minimum = nearest_level(fits[s].minimum, minimum_step, 0, 15);
    block.scales[s] = static_cast<uint8_t>(scale | minimum << 4);
  }
  for (uint8_t& byte : block.levels) byte = 0;
  for (int column = 0; column < 256; ++column) {
    const int half = column / 128, group = column / 32 % 4, i = column % 32;
    const uint8_t scales = block.scales[column / 16];
    const float scale = scale_step * static_cast<float>(scales & 15);
    const float minimum = minimum_step * static_cast<float>(scales >> 4);
    const int level = nearest_level(in[column] + minimum, scale, 0, 3);
    block.levels[32 * half + i] |= static_cast<uint8_t>(level << (2 * group));
  }
}

}  // namespace tempo9::quant
