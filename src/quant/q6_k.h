// Q6_K: 256 columns in sixteen sub-blocks of 16, 6 bits each.
//   value = (step * scales[s]) * (level - 32), level 0 to 63
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockQ6_K {
  static constexpr int kColumns = 256;
  // The two halves of 128 columns are stored one after the other. Within a half, column 32 g + i (g 0 to 3):
  uint8_t low[128];  // lower four bits: byte 32 (g % 2) + i, shifted by 4 (g / 2); 64 bytes a half
  uint8_t high[64];  // upper two bits: byte i, shifted by 2 g; 32 bytes a half
  int8_t scales[16];
  uint8_t step[2];  // f16
};
static_assert(sizeof(BlockQ6_K) == 210);

constexpr void decode(const BlockQ6_K& block, float* out) {
  const float step = load_half(block.step);
  for (int column = 0; column < 256; ++column) {
    const int half = column / 128, group = column / 32 % 4, i = column % 32;
    const int low = block.low[64 * half + 32 * (group % 2) + i] >> (group / 2 * 4) & 15;
    const int high = block.high[32 * half + i] >> (2 * group) & 3;
    const float scale = step * static_cast<float>(block.scales[column / 16]);
    out[column] = scale * static_cast<float>((low | high << 4) - 32);
  }
}

// Signs of scales are free: the peak of a sub-block goes to level -32 and the largest scale to -128.
constexpr void encode(const float* in, BlockQ6_K& block) {
  float scales[16] = {};
  for (int s = 0; s < 16; ++s) scales[s] = signed_peak(in + 16 * s, 16) / -32.0f;
  const float step = store_half(signed_peak(scales, 16) / -128.0f, block.step);
  for (int s = 0; s < 16; ++s)
    block.scales[s] = static_cast<int8_t>(nearest_level(scales[s], step, -128, 127));
  for (uint8_t& byte : block.low) byte = 0;
  for (uint8_t& byte : block.high) byte = 0;
  for (int column = 0; column < 256; ++column) {
    const int half = column / 128, group = column / 32 % 4, i = column % 32;
    const float scale = step * static_cast<float>(block.scales[column / 16]);
    const int level = nearest_level(in[column], scale, -32, 31) + 32;
    block.low[64 * half + 32 * (group % 2) + i] |= static_cast<uint8_t>((level & 15) << (group / 2 * 4));
    block.high[32 * half + i] |= static_cast<uint8_t>((level >> 4) << (2 * group));
  }
}

}  // namespace tempo9::quant
