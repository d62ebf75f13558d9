// AArch64 with the matrix extension for bytes as well: smmla multiplies two weight rows by two activation
// rows, eight columns at once.
#pragma once
#include "backend/cpu/leaf/neon.h"

namespace tempo9::backend::cpu {

struct NeonI8mmLeaf : NeonLeaf<NeonI8mmLeaf> {
  // What an operand holds, eight columns of each of two weight rows, comes from two quads by exchanging
  // halves; the compiler does it once for all rows of a tile.
  template <int N, int Max, int Offset>
  static void dot_two_rows(const Quads* weights, const ActivationBlock& x, const ActivationBlock& y, int half,
                           Ints* sums) {
    const int8_t *of_x = x.levels + 16 * half, *of_y = y.levels + 16 * half;
    Ints low = vdupq_n_s32(0), high = low;  // weight rows 0, 1 and 2, 3: each with x, then with y
    for (int j = 0; j < N; j += 2) {
      const int32x4_t u = vreinterpretq_s32_s8(as_signed<Max, Offset>(weights[j]));
      const int32x4_t v = vreinterpretq_s32_s8(as_signed<Max, Offset>(weights[j + 1]));
      const int8x16_t both = vcombine_s8(vld1_s8(of_x + 4 * j), vld1_s8(of_y + 4 * j));
      low = vmmlaq_s32(low, vreinterpretq_s8_s32(vzip1q_s32(u, v)), both);
      high = vmmlaq_s32(high, vreinterpretq_s8_s32(vzip2q_s32(u, v)), both);
    }
    sums[0] = vaddq_s32(vuzp1q_s32(low, high), start_of_sum<N, Max, Offset>(x.minus128 + half));
    sums[1] = vaddq_s32(vuzp2q_s32(low, high), start_of_sum<N, Max, Offset>(y.minus128 + half));
  }
};

}  // namespace tempo9::backend::cpu
