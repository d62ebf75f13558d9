// Activations as byte products take them: 32 of one row share a scale.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tempo9::backend::cpu {

inline constexpr int kBlockColumns = 32;

struct ActivationBlock {
  int8_t levels[kBlockColumns];  // -127 .. 127
  float scale;
  float sum;            // scale * (sum of the levels): what a weight's minimum is multiplied with
  int32_t minus128[2];  // -128 * (sum of 16 levels): what a leaf with unsigned weights starts its sum from
};
static_assert(sizeof(ActivationBlock) == 48);

// Bytes from one row to the next: whole cache lines and an odd number of them, so that the rows of a tile do
// not fall into the same cache set.
[[gnu::always_inline]] constexpr size_t activation_stride(int columns) {
  const size_t bytes = static_cast<size_t>(columns / kBlockColumns) * sizeof(ActivationBlock);
  return (bytes + 63) / 64 * 64 | 64;
}

// Rounds 32 values to the nearest of 255 levels. A block with an infinity or a NaN becomes NaN as a whole;
// one that is all but zero becomes zero.
template <class L>
void quantise_block(const float* x, ActivationBlock& out) {
  const float largest = L::largest_magnitude(x);
  if (largest > 0x1p-100f && largest <= __FLT_MAX__) {
    L::to_levels(x, 127.0f / largest, out);
    out.scale = largest * (1.0f / 127.0f);
    out.sum = out.scale * static_cast<float>((out.minus128[0] + out.minus128[1]) / -128);
  } else {
    std::memset(&out, 0, sizeof out);
    if (!(largest <= __FLT_MAX__)) out.scale = out.sum = __builtin_nanf("");
  }
}

template <class L>
void quantise_row(const float* x, int columns, ActivationBlock* out) {
  for (int i = 0; i < columns / kBlockColumns; ++i) quantise_block<L>(x + i * kBlockColumns, out[i]);
}

}  // namespace tempo9::backend::cpu
