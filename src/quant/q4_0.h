// Q4_0: 32 columns, 4 bits each, one scale.
//   value = scale * (level - 8), level 0 to 15
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockQ4_0 {
  static constexpr int kColumns = 32;
  uint8_t scale[2];    // f16
  uint8_t levels[16];  // byte i: column i in the low four bits, column i + 16 in the high ones
};
static_assert(sizeof(BlockQ4_0) == 18);

constexpr void decode(const BlockQ4_0& block, float* out) {
  const float scale = load_half(block.scale);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * static_cast<float>((block.levels[i] & 15) - 8);
    out[i + 16] = scale * static_cast<float>((block.levels[i] >> 4) - 8);
  }
}

// The scale maps the value of largest magnitude to -8, the end that has one level more.
constexpr void encode(const float* in, BlockQ4_0& block) {
  const float scale = store_half(signed_peak(in, 32) / -8.0f, block.scale);
  for (int i = 0; i < 16; ++i) {
    const int low = nearest_level(in[i], scale, -8, 7) + 8;
    const int high = nearest_level(in[i + 16], scale, -8, 7) + 8;
    block.levels[i] = static_cast<uint8_t>(low | high << 4);
  }
}

}  // namespace tempo9::quant
