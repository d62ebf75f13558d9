// AVX-512 with the BF16 extension: one instruction where avx512.h needs six.
#pragma once
#include "backend/cpu/leaf/avx512.h"

namespace tempo9::backend::cpu {

struct Avx512Bf16Leaf : Avx512Leaf {
  static constexpr bool kDotsPairs = true;
  static Floats pair_dot(Pairs x, uint32_t pair, Floats sum) {
    const auto q = _mm512_set1_epi32(static_cast<int32_t>(pair));
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(q));
  }
};

}  // namespace tempo9::backend::cpu
