// Q5_1: 32 columns, 5 bits each, a scale and a minimum.
//   value = scale * level + minimum, level 0 to 31
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockQ5_1 {
  static constexpr int kColumns = 32;
  uint8_t scale[2];     // f16
  uint8_t minimum[2];   // f16
  uint8_t high_bit[4];  // bit c of the 32-bit word: bit 4 of column c's level
  uint8_t levels[16];   // lower four bits; byte i: column i in the low half, column i + 16 in the high one
};
static_assert(sizeof(BlockQ5_1) == 24);

constexpr void decode(const BlockQ5_1& block, float* out) {
  const float scale = load_half(block.scale);
  const float minimum = load_half(block.minimum);
  const uint32_t high_bit = load_u32(block.high_bit);
  for (int column = 0; column < 32; ++column) {
    const int low = block.levels[column % 16] >> (column / 16 * 4) & 15;
    const int level = low | static_cast<int>(high_bit >> column & 1u) << 4;
    out[column] = scale * static_cast<float>(level) + minimum;
  }
}

constexpr void encode(const float* in, BlockQ5_1& block) {
  const Range range = find_range(in, 32);
  const float minimum = store_half(range.low, block.minimum);
  const float scale = store_half((range.high - range.low) / 31.0f, block.scale);
  uint32_t high_bit = 0;
  for (uint8_t& byte : block.levels) byte = 0;
  for (int column = 0; column < 32; ++column) {
    const int level = nearest_level(in[column] - minimum, scale, 0, 31);
    block.levels[column % 16] |= static_cast<uint8_t>((level & 15) << (column / 16 * 4));
    high_bit |= static_cast<uint32_t>(level >> 4) << column;
  }
  store_u32(high_bit, block.high_bit);
}

}  // namespace tempo9::quant
