// Matrices times rows, decoded from the file's own layout. The contract that fixes the bits of a result
// whatever rows go with it: lane l of a SIMD group has the pieces l, l + 32, ... of the matrix's row, sums
// their products in one chain of fused multiply-adds, ascending; then the tree of simd_total.
#pragma once
#include "pieces.h"

BEGIN_KERNELS

INLINE float element(float4 v, uint i) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// A tile's slots: `count` of them from place `first` of a list, or from slot `first`.
struct LinearTile {
  uint matrix, first, count;
};

INLINE uint linear_slot(CONSTANT const LinearArgs& a, LinearTile tile, uint r) {
  return a.lists != nullptr ? uint(a.lists[a.matrices + 1 + tile.first + r]) : tile.first + r;
}

// Adds the products of one piece of a row of x with two rows of the matrix.
INLINE void add_products(DEVICE const float* x, THREAD const float (&first)[PIECE],
                         THREAD const float (&second)[PIECE], THREAD float& sum, THREAD float& other) {
  DEVICE const float4* vectors = (DEVICE const float4*)x;
  UNROLL for (uint i = 0; i < PIECE / 4; ++i) {
    const float4 v = vectors[i];
    sum = fused(first[4 * i], v.x, sum);
    sum = fused(first[4 * i + 1], v.y, sum);
    sum = fused(first[4 * i + 2], v.z, sum);
    sum = fused(first[4 * i + 3], v.w, sum);
    other = fused(second[4 * i], v.x, other);
    other = fused(second[4 * i + 1], v.y, other);
    other = fused(second[4 * i + 2], v.z, other);
    other = fused(second[4 * i + 3], v.w, other);
  }
}

INLINE void write_outputs(const Ctx c, CONSTANT const LinearArgs& a, LinearTile tile, uint output,
                          THREAD const float (&sums)[ROW_TILE]) {
  const float4 low = simd_total(make4(sums[0], sums[1], sums[2], sums[3]));
  float4 high = make4(0.0f, 0.0f, 0.0f, 0.0f);
  if (tile.count > 4) high = simd_total(make4(sums[4], sums[5], sums[6], sums[7]));
  if (c.lane >= tile.count || output >= a.outputs) return;
  float y = c.lane < 4 ? element(low, c.lane) : element(high, c.lane - 4);
  if (a.bias != nullptr) y += a.bias[tile.matrix * a.bias_stride + output];
  DEVICE float* out = a.out + ulong(linear_slot(a, tile, c.lane)) * a.out_stride + output;
  *out = a.add != 0 ? *out + y : y;
}

// Two outputs of a SIMD group, `output` and the next.
INLINE void linear_tile(const Ctx c, CONSTANT const LinearArgs& a, LinearTile tile, uint output) {
  DEVICE const uchar* first_row = a.weight + tile.matrix * a.matrix_bytes + output * a.row_bytes;
  DEVICE const uchar* second_row = output + 1 < a.outputs ? first_row + a.row_bytes : first_row;
  DEVICE const float* x[ROW_TILE];
  UNROLL for (uint r = 0; r < ROW_TILE; ++r) x[r] =
      a.x + ulong(linear_slot(a, tile, r < tile.count ? r : 0) / a.slots_per_input) * a.x_stride;
  float sums[ROW_TILE], others[ROW_TILE];
  UNROLL for (uint r = 0; r < ROW_TILE; ++r) sums[r] = others[r] = 0.0f;
  for (uint piece = c.lane; piece * PIECE < a.columns; piece += 32) {
    float first[PIECE], second[PIECE];
    decode_piece(a.format, first_row, piece, a.columns, first);
    decode_piece(a.format, second_row, piece, a.columns, second);
    UNROLL for (uint r = 0; r < ROW_TILE; ++r) if (r < tile.count)
        add_products(x[r] + piece * PIECE, first, second, sums[r], others[r]);
  }
  write_outputs(c, a, tile, output, sums);
  write_outputs(c, a, tile, output + 1, others);
}

// grid: x = tile of outputs; y = tile of rows, or matrix of a stack
KERNEL(linear, LinearArgs, NoScratch) {
  const uint output = (c.group * GROUP_SIMDS + c.simd) * 2;
  if (output >= a.outputs) return;  // the whole SIMD group
  uint first = c.group_y * ROW_TILE, last = first + ROW_TILE < a.rows ? first + ROW_TILE : a.rows;
  if (a.lists != nullptr) {
    first = uint(a.lists[c.group_y]);
    last = uint(a.lists[c.group_y + 1]);
  }
  for (; first < last; first += ROW_TILE) {
    const LinearTile tile = {a.lists != nullptr ? c.group_y : 0, first,
                             last - first < ROW_TILE ? last - first : uint(ROW_TILE)};
    linear_tile(c, a, tile, output);
  }
}

END_KERNELS
