// IQ4_XS: 256 columns in eight sub-blocks of 32; the levels of IQ4_NL with a 6-bit scale per sub-block.
//   value = (step * (scale[s] - 32)) * table[index], scale 0 to 63
#pragma once
#include "quant/half.h"
#include "quant/iq4_nl.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockIQ4_XS {
  static constexpr int kColumns = 256;
  uint8_t step[2];         // f16
  uint8_t scales_high[2];  // 16-bit word: upper two bits of scale s, shifted by 2 s
  uint8_t scales_low[4];   // lower four bits of scale s: byte s / 2, shifted by 4 (s % 2)
  // Byte 16 s + i: column i of sub-block s in the low four bits, column i + 16 in the high ones.
  uint8_t indices[128];

  constexpr int scale(int sub_block) const {
    const int low = scales_low[sub_block / 2] >> (sub_block % 2 * 4) & 15;
    const int high = load_u16(scales_high) >> (2 * sub_block) & 3;
    return (low | high << 4) - 32;
  }
};
static_assert(sizeof(BlockIQ4_XS) == 136);

constexpr void decode(const BlockIQ4_XS& block, float* out) {
  const float step = load_half(block.step);
  for (int s = 0; s < 8; ++s) {
    const float scale = step * static_cast<float>(block.scale(s));
    for (int i = 0; i < 16; ++i) {
      const uint8_t pair = block.indices[16 * s + i];
      out[32 * s + i] = scale * static_cast<float>(iq4_level(pair & 15));
      out[32 * s + i + 16] = scale * static_cast<float>(iq4_level(pair >> 4));
    }
  }
}

// Signs of scales are free: the peak of a sub-block goes to level -127 and the largest scale to -32.
constexpr void encode(const float* in, BlockIQ4_XS& block) {
  float scales[8] = {};
  for (int s = 0; s < 8; ++s) scales[s] = signed_peak(in + 32 * s, 32) / -127.0f;
  const float step = store_half(signed_peak(scales, 8) / -32.0f, block.step);
  int high = 0;
  for (uint8_t& byte : block.scales_low) byte = 0;
  for (int s = 0; s < 8; ++s) {
    const int scale = nearest_level(scales[s], step, -32, 31) + 32;
    block.scales_low[s / 2] |= static_cast<uint8_t>((scale & 15) << (s % 2 * 4));
    high |= (scale >> 4) << (2 * s);
  }
  store_u16(static_cast<uint16_t>(high), block.scales_high);
  for (int s = 0; s < 8; ++s) {
    const float scale = step * static_cast<float>(block.scale(s));
    for (int i = 0; i < 16; ++i) {
      const int first = nearest_iq4_index(in[32 * s + i], scale);
      const int second = nearest_iq4_index(in[32 * s + i + 16], scale);
      block.indices[16 * s + i] = static_cast<uint8_t>(first | second << 4);
    }
  }
}

}  // namespace tempo9::quant
