// The linear operation on a core with a matrix unit: the contract of linear.h, whose integers 16 rows of
// activations by 16 rows of weights now come from one instruction. Rows that are left take linear.h's way.
//
// Besides its other words, such a leaf has
//   Tiles<N>      the unit, set up for products over 4 * N columns, as long as it lives
//     multiply(lines, levels, stride, sums)   sums[r][n], 16 by 16: row r's levels, `stride` bytes from the
//     last
//                                             row's, by weight row n of N lines; exact
//   store_quads   where `lines` are aligned to 64 bytes
//   load_ints, add_to_all
#pragma once
#include "backend/cpu/linear.h"

namespace tempo9::backend::cpu {

inline constexpr int kTileUnitRows = 16;

template <class L>
inline constexpr bool kHasTiles = requires {
  typename L::template Tiles<8>;
};

// What dot() would have given for the block of row `x`; `sums` are those of its row for kLanes weights.
template <class Format, class L>
[[gnu::always_inline]] inline Products<Format, L> take_products(
    const int32_t (*sums)[kTileUnitRows * kPanelRows], int at, const ActivationBlock& x) {
  Products<Format, L> d;
  for (int half = 0; half < Format::kScales; ++half) {
    d.sums[half] = L::load_ints(sums[half] + at);
    if constexpr (Format::kOffset != 0) {
      const int32_t minus128 = Format::kScales == 1 ? x.minus128[0] + x.minus128[1] : x.minus128[half];
      d.sums[half] = L::add_to_all(d.sums[half], minus128 / (128 / Format::kOffset));
    }
  }
  return d;
}

// A panel by 16 rows.
template <class Format, class L, class Tiles>
void compute_panel_by_tiles(const Tile& tile, const Tiles& tiles) {
  constexpr int kBlocks = Format::Block::kColumns / kBlockColumns, kParts = kPanelRows / L::kLanes;
  alignas(64) uint8_t lines[8 * kLineBytes];
  alignas(64) int32_t products[Format::kScales][kTileUnitRows * kPanelRows];
  TileSums<L, kTileUnitRows, kParts> sum;
  for (int p = 0; p < kParts; ++p)
    for (int r = 0; r < kTileUnitRows; ++r) sum[p][r] = L::zero();
  const uint8_t* unit = tile.panel;
  const std::byte* input = tile.input;
  for (int u = 0; u < tile.columns / Format::Block::kColumns; ++u, unit += Format::kUnitBytes)
    for (int b = 0; b < kBlocks; ++b, input += sizeof(ActivationBlock)) {
      DecodedBlock<L> weights[kParts];
      for (int p = 0; p < kParts; ++p) {
        Format::template decode<L>(unit, b, p * L::kLanes, weights[p]);
        for (int j = 0; j < 8; ++j)
          L::store_quads(lines + kLineBytes * j + 4 * p * L::kLanes, weights[p].quads[j]);
      }
      const std::byte* levels = input + offsetof(ActivationBlock, levels);
      for (int half = 0; half < Format::kScales; ++half)
        tiles.multiply(lines + 4 * kLineBytes * half, levels + 16 * half, tile.input_stride, products[half]);
#pragma GCC unroll 16
      for (int r = 0; r < kTileUnitRows; ++r) {
        const auto& x =
            *reinterpret_cast<const ActivationBlock*>(input + static_cast<size_t>(r) * tile.input_stride);
#pragma GCC unroll 4
        for (int p = 0; p < kParts; ++p) {
          const auto d = take_products<Format, L>(products, kPanelRows * r + p * L::kLanes, x);
          sum[p][r] = accumulate<Format, L>(weights[p], x, d, sum[p][r]);
        }
      }
    }
  for (int p = 0; p < kParts; ++p)
    for (int r = 0; r < kTileUnitRows; ++r) store_result<L>(tile, r, p * L::kLanes, sum[p][r]);
}

template <class Format, class L>
void linear_by_tiles(const LinearTask& task) {
  const int whole = task.rows / kTileUnitRows * kTileUnitRows;
  const int full_panels =
      task.outputs / kPanelRows < task.last_panel ? task.outputs / kPanelRows : task.last_panel;
  if (whole > 0 && full_panels > task.first_panel) {
    const typename L::template Tiles<8 / Format::kScales> tiles;
    for (int p = task.first_panel; p < full_panels; ++p)
      for (int r = 0; r < whole; r += kTileUnitRows)
        compute_panel_by_tiles<Format, L>(tile_of<Format>(task, r, p), tiles);
  }
  LinearTask rest = task;
  rest.first_panel = full_panels > task.first_panel ? full_panels : task.first_panel;
  linear<Format, L>(rest);  // of the panel that is not full, all rows
  rest = task;
  rest.last_panel = full_panels;
  rest.rows = task.rows - whole;
  rest.input += static_cast<size_t>(whole) * task.input_stride;
  rest.out += static_cast<size_t>(whole) * task.out_stride;
  linear<Format, L>(rest);
}

}  // namespace tempo9::backend::cpu
