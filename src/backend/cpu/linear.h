// out[row][n] = sum over k of weight[n][k] * input[row][k], for every format and leaf.
//
// The contract that fixes the bits of one result, whatever rows, threads or leaf compute it (but for what
// linear_bfloat.h computes):
//   Blocks of 32 columns ascending. In a block, D is an exact integer sum of products of levels. Then
//     one scale:   sum = fma(w.scale * x.scale, D, sum); with a minimum, sum = fma(w.minimum, x.sum, sum)
//     two scales:  both = fma(w.scale1, D1, w.scale0 * D0); with minima, both = fma(w.minimum1, M1,
//                  fma(w.minimum0, M0, both)), M being ActivationBlock::minus128;
//                  sum = fma(both, x.scale, sum)
//   Unquantised formats: columns ascending, sum = fma(x, w, sum).
//   At the end, once: sum + bias, and then out + that.
// A result depends on its own row only; threads share panels, never columns. Tile sizes, prefetching and the
// order of tiles are free.
#pragma once
#include <cstddef>

#include "backend/cpu/kernels.h"

namespace tempo9::backend::cpu {

// Bytes of weights asked for in advance when they are probably read from memory. Without it, few rows run at
// half the memory's speed: the products keep the core from looking ahead far enough.
inline constexpr int kPrefetchAhead = 4096;

// One panel and a few rows.
struct Tile {
  const uint8_t* panel;
  int columns;
  const std::byte* input;
  size_t input_stride;
  float* out;
  size_t out_stride;
  const float* bias;
  bool add;
};

// The integers of a block: D, or D0 and D1.
template <class Format, class L>
struct Products {
  typename L::Ints sums[Format::kScales];
};

template <class Format, class L>
[[gnu::always_inline]] inline Products<Format, L> multiply(const DecodedBlock<L>& w,
                                                           const ActivationBlock& x) {
  constexpr int kQuads = 8 / Format::kScales, kMax = Format::kMaxLevel, kOffset = Format::kOffset;
  Products<Format, L> d;
  for (int half = 0; half < Format::kScales; ++half)
    d.sums[half] =
        L::template dot<kQuads, kMax, kOffset>(w.quads + 4 * half, x.levels + 16 * half, x.minus128 + half);
  return d;
}

// Of rows x[0] and x[1].
template <class Format, class L>
[[gnu::always_inline]] inline void multiply_two(const DecodedBlock<L>& w, const ActivationBlock* const* x,
                                                Products<Format, L>* d) {
  constexpr int kQuads = 8 / Format::kScales, kMax = Format::kMaxLevel, kOffset = Format::kOffset;
  for (int half = 0; half < Format::kScales; ++half) {
    typename L::Ints sums[2];
    L::template dot_two_rows<kQuads, kMax, kOffset>(w.quads + 4 * half, *x[0], *x[1], half, sums);
    for (int i = 0; i < 2; ++i) d[i].sums[half] = sums[i];
  }
}

template <class Format, class L>
[[gnu::always_inline]] inline typename L::Floats accumulate(const DecodedBlock<L>& w,
                                                            const ActivationBlock& x,
                                                            const Products<Format, L>& d,
                                                            typename L::Floats sum) {
  if constexpr (Format::kScales == 1) {
    sum = L::fma(L::mul(w.scale[0], L::set(x.scale)), L::to_floats(d.sums[0]), sum);
    if constexpr (Format::kMinima == 1) sum = L::fma(w.minimum[0], L::set(x.sum), sum);
    return sum;
  } else {
    auto both = L::fma(w.scale[1], L::to_floats(d.sums[1]), L::mul(w.scale[0], L::to_floats(d.sums[0])));
    if constexpr (Format::kMinima == 2) {
      for (int half = 0; half < 2; ++half)
        both = L::fma(w.minimum[half], L::set(static_cast<float>(x.minus128[half])), both);
    }
    return L::fma(both, L::set(x.scale), sum);
  }
}

// Of `Rows` rows, a block of one scale with levels of full bytes, which take more registers than others.
template <class Format, class L, int Rows>
[[gnu::always_inline]] inline void multiply_full(const DecodedBlock<L>& w, const std::byte* input,
                                                 size_t stride, Products<Format, L>* d) {
  typename L::Ints sums[Rows];
  L::template full_dots<8, Rows>(w.quads, input + offsetof(ActivationBlock, levels), stride, sums);
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) d[r].sums[0] = sums[r];
}

// Adds one block's part to the sums of Rows rows, whose blocks begin at `input`.
template <class Format, class L, int Rows>
[[gnu::always_inline]] inline void accumulate_rows(const DecodedBlock<L>& w, const std::byte* input,
                                                   size_t stride, typename L::Floats* sum) {
  constexpr bool kTwoAtOnce = requires {
    &L::template dot_two_rows<8, 15, 0>;
  };
  constexpr bool kFullDots = requires {
    &L::template full_dots<8, 2>;
  };
  constexpr int kPaired = kTwoAtOnce ? Rows / 2 * 2 : 0;
  const auto block = [&](int r) { return reinterpret_cast<const ActivationBlock*>(input + r * stride); };
  if constexpr (kFullDots && Format::kMaxLevel > 127 && Format::kScales == 1 && Rows > 1) {
    Products<Format, L> d[Rows];
    multiply_full<Format, L, Rows>(w, input, stride, d);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) sum[r] = accumulate<Format, L>(w, *block(r), d[r], sum[r]);
    return;
  }
  if constexpr (kTwoAtOnce) {
#pragma GCC unroll 4
    for (int r = 0; r < kPaired; r += 2) {
      const ActivationBlock* x[2] = {block(r), block(r + 1)};
      Products<Format, L> d[2];
      multiply_two<Format, L>(w, x, d);
      for (int i = 0; i < 2; ++i) sum[r + i] = accumulate<Format, L>(w, *x[i], d[i], sum[r + i]);
    }
  }
#pragma GCC unroll 8
  for (int r = kPaired; r < Rows; ++r)
    sum[r] = accumulate<Format, L>(w, *block(r), multiply<Format, L>(w, *block(r)), sum[r]);
}

template <class L, int Rows, int Parts>
using TileSums = typename L::Floats[Parts][Rows];

// Parts * L::kLanes weight rows from `row` of the panel on, by Rows rows of activation blocks.
template <class Format, class L, int Rows, int Parts, bool kFromMemory>
[[gnu::always_inline]] inline void sum_blocks(const Tile& tile, int row, TileSums<L, Rows, Parts>& sum) {
  constexpr int kBlocks = Format::Block::kColumns / kBlockColumns;
  constexpr int kStep = Format::kUnitBytes / kBlocks;
  const uint8_t* unit = tile.panel;
  const std::byte* input = tile.input;
  for (int u = 0; u < tile.columns / Format::Block::kColumns; ++u, unit += Format::kUnitBytes)
    for (int b = 0; b < kBlocks; ++b, input += sizeof(ActivationBlock)) {
      if constexpr (kFromMemory)
        for (int i = 0; i < kStep; i += 64) __builtin_prefetch(unit + kPrefetchAhead + b * kStep + i);
#pragma GCC unroll 4
      for (int p = 0; p < Parts; ++p) {
        DecodedBlock<L> weights;
        Format::template decode<L>(unit, b, row + p * L::kLanes, weights);
        accumulate_rows<Format, L, Rows>(weights, input, tile.input_stride, sum[p]);
      }
    }
}

// The same by rows of floats.
template <class Format, class L, int Rows, int Parts>
[[gnu::always_inline]] inline void sum_floats(const Tile& tile, int row, TileSums<L, Rows, Parts>& sum) {
  const uint8_t* unit = tile.panel;
  for (int k = 0; k < tile.columns; ++k, unit += Format::kUnitBytes) {
    typename L::Floats weights[Parts];
    for (int p = 0; p < Parts; ++p) weights[p] = Format::template load<L>(unit, row + p * L::kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      const auto x = L::set(reinterpret_cast<const float*>(tile.input + r * tile.input_stride)[k]);
#pragma GCC unroll 4
      for (int p = 0; p < Parts; ++p) sum[p][r] = L::fma(x, weights[p], sum[p][r]);
    }
  }
}

// The sums of row `r` for the weight rows from `n` of the panel on.
template <class L>
[[gnu::always_inline]] inline void store_result(const Tile& tile, int r, int n, typename L::Floats result) {
  float* out = tile.out + static_cast<size_t>(r) * tile.out_stride + n;
  if (tile.bias != nullptr) result = L::add(result, L::load(tile.bias + n));
  if (tile.add) result = L::add(L::load(out), result);
  L::store(out, result);
}

template <class Format, class L, int Rows, int Parts, bool kFromMemory>
void compute_tile(const Tile& tile, int row) {
  TileSums<L, Rows, Parts> sum;
  for (int p = 0; p < Parts; ++p)
    for (int r = 0; r < Rows; ++r) sum[p][r] = L::zero();
  if constexpr (kIsFloats<Format>)
    sum_floats<Format, L, Rows, Parts>(tile, row, sum);
  else
    sum_blocks<Format, L, Rows, Parts, kFromMemory>(tile, row, sum);
  for (int p = 0; p < Parts; ++p)
    for (int r = 0; r < Rows; ++r) store_result<L>(tile, r, row + p * L::kLanes, sum[p][r]);
}

// Few rows take several parts of the panel at once, to have enough independent sums; rows of floats, which
// need no other registers, as many as there are.
template <class Format, class L, int Rows>
constexpr int parts_of_tile() {
  constexpr int kAll = kPanelRows / L::kLanes < 4 ? kPanelRows / L::kLanes : 4;
  if (!kIsFloats<Format>) return Rows * 2 <= L::kTileRows ? kAll : 1;
  int parts = kAll;
  while (parts > 1 && parts * Rows > L::kTileRows * 2) parts /= 2;
  return parts;
}

template <class Format, class L, int Rows, bool kFromMemory>
void compute_panel(const Tile& tile) {
  constexpr int kParts = parts_of_tile<Format, L, Rows>();
  for (int row = 0; row < kPanelRows; row += kParts * L::kLanes)
    compute_tile<Format, L, Rows, kParts, kFromMemory>(tile, row);
}

// `rows` at most Rows.
template <class Format, class L, int Rows = L::kTileRows>
void compute_rows(const Tile& tile, int rows, bool from_memory) {
  if constexpr (Rows > 0) {
    if (rows < Rows)
      compute_rows<Format, L, Rows - 1>(tile, rows, from_memory);
    else if (Rows < L::kTileRows || from_memory)
      compute_panel<Format, L, Rows, true>(tile);
    else
      compute_panel < Format, L, Rows, Rows<L::kTileRows>(tile);
  }
}

// The last panel of a matrix whose rows are no multiple of 16: computed aside, so that nothing is read or
// written beyond the outputs.
template <class Format, class L>
void compute_partial_panel(Tile tile, int rows, int valid, bool from_memory) {
  float out[L::kTileRows * kPanelRows], bias[kPanelRows];
  const Tile target = tile;
  const size_t bytes = sizeof(float) * static_cast<size_t>(valid);
  std::memset(out, 0, sizeof out);
  std::memset(bias, 0, sizeof bias);
  if (tile.add)
    for (int r = 0; r < rows; ++r)
      std::memcpy(out + r * kPanelRows, target.out + r * target.out_stride, bytes);
  if (tile.bias != nullptr) {
    std::memcpy(bias, target.bias, bytes);
    tile.bias = bias;
  }
  tile.out = out;
  tile.out_stride = kPanelRows;
  compute_rows<Format, L>(tile, rows, from_memory);
  for (int r = 0; r < rows; ++r) std::memcpy(target.out + r * target.out_stride, out + r * kPanelRows, bytes);
}

// The task's part in panel `p`, rows from `r` on.
template <class Format>
[[gnu::always_inline]] inline Tile tile_of(const LinearTask& task, int r, int p) {
  const size_t panel_bytes = static_cast<size_t>(task.columns / Format::Block::kColumns) * Format::kUnitBytes;
  const int first_output = p * kPanelRows;
  return {
      .panel = task.panels + static_cast<size_t>(p) * panel_bytes,
      .columns = task.columns,
      .input = task.input + static_cast<size_t>(r) * task.input_stride,
      .input_stride = task.input_stride,
      .out = task.out + static_cast<size_t>(r) * task.out_stride + first_output,
      .out_stride = task.out_stride,
      .bias = task.bias == nullptr ? nullptr : task.bias + first_output,
      .add = task.add,
  };
}

template <class Format, class L>
void linear(const LinearTask& task) {
  for (int r = 0; r < task.rows; r += L::kTileRows) {
    const int rows = task.rows - r < L::kTileRows ? task.rows - r : L::kTileRows;
    for (int p = task.first_panel; p < task.last_panel; ++p) {
      const int valid = task.outputs - p * kPanelRows;
      const Tile tile = tile_of<Format>(task, r, p);
      if (valid < kPanelRows)
        compute_partial_panel<Format, L>(tile, rows, valid, r == 0);
      else
        compute_rows<Format, L>(tile, rows, r == 0);
    }
  }
}

}  // namespace tempo9::backend::cpu
