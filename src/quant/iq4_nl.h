// IQ4_NL: 32 columns, 4 bits each that index a fixed table of sixteen uneven levels, one scale.
//   value = scale * table[index]
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockIQ4_NL {
  static constexpr int kColumns = 32;
  uint8_t scale[2];     // f16
  uint8_t indices[16];  // byte i: column i in the low four bits, column i + 16 in the high ones
};
static_assert(sizeof(BlockIQ4_NL) == 18);

// The table that IQ4_NL and IQ4_XS share: levels are denser around zero, as weights are.
constexpr int iq4_level(int index) {
  const int8_t levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  return levels[index];
}

// The index whose level is nearest to value / scale.
constexpr int nearest_iq4_index(float value, float scale) {
  const float level = scale != 0.0f ? value / scale : 0.0f;
  int index = 0;
  while (index < 15 && level > 0.5f * static_cast<float>(iq4_level(index) + iq4_level(index + 1))) ++index;
  return index;
}

constexpr void decode(const BlockIQ4_NL& block, float* out) {
  const float scale = load_half(block.scale);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * static_cast<float>(iq4_level(block.indices[i] & 15));
    out[i + 16] = scale * static_cast<float>(iq4_level(block.indices[i] >> 4));
  }
}

constexpr void encode(const float* in, BlockIQ4_NL& block) {
  const float scale = store_half(signed_peak(in, 32) / -127.0f, block.scale);
  for (int i = 0; i < 16; ++i) {
    const int low = nearest_iq4_index(in[i], scale);
    const int high = nearest_iq4_index(in[i + 16], scale);
    block.indices[i] = static_cast<uint8_t>(low | high << 4);
  }
}

}  // namespace tempo9::quant
