// Q3_K: 256 columns in sixteen sub-blocks of 16, 3 bits each.
//   value = (step * (scale[s] - 32)) * (level - 4), scale 0 to 63, level 0 to 7
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockQ3_K {
  static constexpr int kColumns = 256;
  // Column 32 g + i (g 0 to 7): bit g of byte i is bit 2 of the level.
  uint8_t high_bit[32];
  // The lower two bits of the levels. The two halves of 128 columns one after the other, 32 bytes each:
  // column 32 g + i of a half (g 0 to 3) is in byte i, shifted by 2 g.
  uint8_t levels[64];
  // Scale s, lower four bits: byte s % 8, shifted by 4 (s / 8). Upper two bits: byte 8 + s % 4, shifted by
  // 2 (s / 4).
  uint8_t scales[12];
  uint8_t step[2];  // f16

  constexpr int scale(int sub_block) const {
    const int low = scales[sub_block % 8] >> (sub_block / 8 * 4) & 15;
    const int high = scales[8 + sub_block % 4] >> (sub_block / 4 * 2) & 3;
    return (low | high << 4) - 32;
  }
};
static_assert(sizeof(BlockQ3_K) == 110);

constexpr void decode(const BlockQ3_K& block, float* out) {
  const float step = load_half(block.step);
  for (int column = 0; column < 256; ++column) {
    const int half = column / 128, group = column / 32, i = column % 32;
    const float scale = step * static_cast<float>(block.scale(column / 16));
    const int low = block.levels[32 * half + i] >> (2 * (group % 4)) & 3;
    const int high = block.high_bit[i] >> group & 1;
    out[column] = scale * static_cast<float>((low | high << 2) - 4);
  }
}

// Signs of scales are free: the peak of a sub-block goes to level -4 and the largest scale to -32.
constexpr void encode(const float* in, BlockQ3_K& block) {
  float scales[16] = {};
  for (int s = 0; s < 16; ++s) scales[s] = signed_peak(in + 16 * s, 16) / -4.0f;
  const float step = store_half(signed_peak(scales, 16) / -32.0f, block.step);
  for (uint8_t& byte : block.scales) byte = 0;
  for (int s = 0; s < 16; ++s) {
    const int scale = nearest_level(scales[s], step, -32, 31) + 32;
    block.scales[s % 8] |= static_cast<uint8_t>((scale & 15) << (s / 8 * 4));
    block.scales[8 + s % 4] |= static_cast<uint8_t>((scale >> 4) << (s / 4 * 2));
  }
  for (uint8_t& byte : block.levels) byte = 0;
  for (uint8_t& byte : block.high_bit) byte = 0;
  for (int column = 0; column < 256; ++column) {
    const int half = column / 128, group = column / 32, i = column % 32;
    const float scale = step * static_cast<float>(block.scale(column / 16));
    const int level = nearest_level(in[column], scale, -4, 3) + 4;
    block.levels[32 * half + i] |= static_cast<uint8_t>((level & 3) << (2 * (group % 4)));
    block.high_bit[i] |= static_cast<uint8_t>((level >> 2) << group);
  }
}

}  // namespace tempo9::quant
