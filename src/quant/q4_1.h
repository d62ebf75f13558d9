// Q4_1: 32 columns, 4 bits each, a scale and a minimum.
//   value = scale * level + minimum, level 0 to 15
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockQ4_1 {
  static constexpr int kColumns = 32;
  uint8_t scale[2];    // f16
  uint8_t minimum[2];  // f16
  uint8_t levels[16];  // byte i: column i in the low four bits, column i + 16 in the high ones
};
static_assert(sizeof(BlockQ4_1) == 20);

constexpr void decode(const BlockQ4_1& block, float* out) {
  const float scale = load_half(block.scale);
  const float minimum = load_half(block.minimum);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * static_cast<float>(block.levels[i] & 15) + minimum;
    out[i + 16] = scale * static_cast<float>(block.levels[i] >> 4) + minimum;
  }
}

constexpr void encode(const float* in, BlockQ4_1& block) {
  const Range range = find_range(in, 32);
  const float minimum = store_half(range.low, block.minimum);
  const float scale = store_half((range.high - range.low) / 15.0f, block.scale);
  for (int i = 0; i < 16; ++i) {
    const int low = nearest_level(in[i] - minimum, scale, 0, 15);
    const int high = nearest_level(in[i + 16] - minimum, scale, 0, 15);
    block.levels[i] = static_cast<uint8_t>(low | high << 4);
  }
}

}  // namespace tempo9::quant
