// F16: IEEE binary16, little endian.
#pragma once
#include "quant/half.h"

namespace tempo9::quant {

struct BlockF16 {
  static constexpr int kColumns = 1;
  uint8_t bits[2];
};
static_assert(sizeof(BlockF16) == 2);

constexpr void decode(const BlockF16& block, float* out) {
  *out = load_half(block.bits);
}

constexpr void encode(const float* in, BlockF16& block) {
  store_u16(float_to_half(*in), block.bits);
}

}  // namespace tempo9::quant
