// F32: IEEE binary32, little endian.
#pragma once
#include "quant/half.h"

namespace tempo9::quant {

struct BlockF32 {
  static constexpr int kColumns = 1;
  uint8_t bits[4];
};
static_assert(sizeof(BlockF32) == 4);

constexpr void decode(const BlockF32& block, float* out) {
  *out = float_from_bits(load_u32(block.bits));
}

constexpr void encode(const float* in, BlockF32& block) {
  store_u32(float_to_bits(*in), block.bits);
}

}  // namespace tempo9::quant
