// Q5_0: 32 columns, 5 bits each, one scale.
//   value = scale * (level - 16), level 0 to 31
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockQ5_0 {
  static constexpr int kColumns = 32;
  uint8_t scale[2];     // f16
  uint8_t high_bit[4];  // bit c of the 32-bit word: bit 4 of column c's level
  uint8_t levels[16];   // lower four bits; byte i: column i in the low half, column i + 16 in the high one
};
static_assert(sizeof(BlockQ5_0) == 22);

constexpr void decode(const BlockQ5_0& block, float* out) {
  const float scale = load_half(block.scale);
  const uint32_t high_bit = load_u32(block.high_bit);
  for (int column = 0; column < 32; ++column) {
    const int low = block.levels[column % 16] >> (column / 16 * 4) & 15;
    const int level = low | static_cast<int>(high_bit >> column & 1u) << 4;
    out[column] = scale * static_cast<float>(level - 16);
  }
}

// The scale maps the value of largest magnitude to -16, the end that has one level more.
constexpr void encode(const float* in, BlockQ5_0& block) {
  const float scale = store_half(signed_peak(in, 32) / -16.0f, block.scale);
  uint32_t high_bit = 0;
  for (uint8_t& byte : block.levels) byte = 0;
  for (int column = 0; column < 32; ++column) {
    const int level = nearest_level(in[column], scale, -16, 15) + 16;
    block.levels[column % 16] |= static_cast<uint8_t>((level & 15) << (column / 16 * 4));
    high_bit |= static_cast<uint32_t>(level >> 4) << column;
  }
  store_u32(high_bit, block.high_bit);
}

}  // namespace tempo9::quant
