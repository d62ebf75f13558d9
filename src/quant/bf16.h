// BF16: the upper sixteen bits of a binary32, little endian.
#pragma once
#include "quant/half.h"

namespace tempo9::quant {

struct BlockBF16 {
  static constexpr int kColumns = 1;
  uint8_t bits[2];
};
static_assert(sizeof(BlockBF16) == 2);

constexpr void decode(const BlockBF16& block, float* out) {
  *out = bfloat_to_float(load_u16(block.bits));
}

constexpr void encode(const float* in, BlockBF16& block) {
  store_u16(float_to_bfloat(*in), block.bits);
}

}  // namespace tempo9::quant
