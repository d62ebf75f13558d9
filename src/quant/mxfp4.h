// MXFP4: 32 columns, 4 bits each that are an E2M1 float, one power of two as the scale.
//   value = 2^(exponent - 127) * e2m1
// Source: OCP Microscaling Formats 1.0, except that exponent 255 is a scale of 2^128 and not NaN: other GGUF
// readers take it so.
#pragma once
#include "quant/half.h"
#include "quant/rounding.h"

namespace tempo9::quant {

struct BlockMXFP4 {
  static constexpr int kColumns = 32;
  uint8_t exponent;    // E8M0
  uint8_t levels[16];  // byte i: column i in the low four bits, column i + 16 in the high ones
};
static_assert(sizeof(BlockMXFP4) == 17);

// Twice the value of an E2M1 code, so that all are integers. Bit 3 is the sign.
constexpr int doubled_e2m1(int code) {
  const int8_t levels[8] = {0, 1, 2, 3, 4, 6, 8, 12};
  return code < 8 ? levels[code] : -levels[code - 8];
}

// 2^(exponent - 128): half the scale, to go with doubled levels. The two smallest are subnormal.
constexpr float half_scale(int exponent) {
  if (exponent < 2) return float_from_bits(0x00200000u << exponent);
  return float_from_bits(static_cast<uint32_t>(exponent - 1) << 23);
}

constexpr int nearest_e2m1(float value, float half_scale) {
  const float level = value / half_scale;
  const float magnitude = level < 0.0f ? -level : level;
  int code = 0;
  while (code < 7 && magnitude > 0.5f * static_cast<float>(doubled_e2m1(code) + doubled_e2m1(code + 1)))
    ++code;
  return level < 0.0f ? code + 8 : code;
}

constexpr void decode(const BlockMXFP4& block, float* out) {
  const float scale = half_scale(block.exponent);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * static_cast<float>(doubled_e2m1(block.levels[i] & 15));
    out[i + 16] = scale * static_cast<float>(doubled_e2m1(block.levels[i] >> 4));
  }
}

// The scale puts the peak between 4 and 8, of which 6 is the largest level.
constexpr void encode(const float* in, BlockMXFP4& block) {
  const int peak_exponent = static_cast<int>(float_to_bits(signed_peak(in, 32)) >> 23 & 255u);
  block.exponent = static_cast<uint8_t>(peak_exponent > 2 ? peak_exponent - 2 : 0);
  const float scale = half_scale(block.exponent);
  for (int i = 0; i < 16; ++i) {
    const int low = nearest_e2m1(in[i], scale);
    const int high = nearest_e2m1(in[i + 16], scale);
    block.levels[i] = static_cast<uint8_t>(low | high << 4);
  }
}

}  // namespace tempo9::quant
