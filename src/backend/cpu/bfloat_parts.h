// Activations as products of bf16 take them: every f32 in three bf16, by eight of its 24 significant bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tempo9::backend::cpu {

inline constexpr int kBfloatColumns = 32, kBfloatParts = 3;

// 32 columns of one row. part[0] holds the lowest bits of each value. The parts have the value's sign and add
// up to it exactly from 2^-103 on; a unit that flushes subnormal parts drops less than 2^-125 of smaller
// ones. Of an infinity or a NaN some part is NaN.
struct BfloatBlock {
  uint16_t part[kBfloatParts][kBfloatColumns];
};
static_assert(sizeof(BfloatBlock) == 192);

[[gnu::always_inline]] constexpr int bfloat_blocks(int columns) {
  return (columns + kBfloatColumns - 1) / kBfloatColumns;
}

// Bytes from one row to the next: an odd number of cache lines (see activation_stride).
[[gnu::always_inline]] constexpr size_t bfloat_stride(int columns) {
  return static_cast<size_t>(bfloat_blocks(columns)) * sizeof(BfloatBlock) | 64;
}

template <class L>
void split_block(const float* x, BfloatBlock& out) {
  for (int i = 0; i < kBfloatColumns; i += L::kLanes) {
    auto rest = L::load(x + i);
    for (int part = kBfloatParts - 1; part >= 0; --part) {
      const auto upper = L::upper_half(rest);
      L::store_upper_half(out.part[part] + i, upper);
      rest = L::sub(rest, upper);
    }
  }
}

// Columns beyond the row's last are zero.
template <class L>
void split_row(const float* x, int columns, BfloatBlock* out) {
  const int whole = columns / kBfloatColumns;
  for (int b = 0; b < whole; ++b) split_block<L>(x + b * kBfloatColumns, out[b]);
  if (whole * kBfloatColumns == columns) return;
  float last[kBfloatColumns] = {};
  std::memcpy(last, x + whole * kBfloatColumns,
              sizeof(float) * static_cast<size_t>(columns - whole * kBfloatColumns));
  split_block<L>(last, out[whole]);
}

}  // namespace tempo9::backend::cpu
