// The linear operation for BF16 weights on a core whose matrix unit multiplies bf16. Activations come in
// three parts (bfloat_parts.h), so nothing of them is rounded. The contract, in place of linear.h's:
//   Blocks of 32 columns ascending; in a block the parts, the lowest first. A part's products are added in
//   two chains from zero, even columns in one and odd ones in the other, ascending, by fma. Then
//     sum = sum + (even + odd)
//   Subnormal numbers count as zero, as operands and as results. At the end as in linear.h.
// This is the order of one tile instruction after the other, for any number of rows, and its bits are not
// those of linear.h. A product meets at most 17 roundings until it is part of `sum` and three per block from
// there on: no more than linear.h's one per column, from eight columns on.
//
// Besides its other words, such a leaf has
//   BfloatTiles   the unit, set up for sums of 1 to 32 rows by two panels, as long as it lives
//     zero()      the sums
//     multiply<Panels>(lines, parts, stride)   adds a block: kPairLines of each panel, the first row's
//                 BfloatBlock, and bytes from row to row
//     store(sums) sums[2 * (r / 16) + panel][r % 16][n]
//   store_pairs   two columns of 16 bf16 each as a line of pairs, where lines are aligned to 64 bytes
//   upper_half, store_upper_half   of a float's bits
#pragma once
#include "backend/cpu/linear_tiles.h"

namespace tempo9::backend::cpu {

inline constexpr int kBfloatPanels = 2, kBfloatRows = 2 * kTileUnitRows;
inline constexpr int kPairLines = kBfloatColumns / 2 * kLineBytes;  // bytes of a block of one panel

template <class L>
inline constexpr bool kHasBfloatTiles = requires {
  typename L::BfloatTiles;
};

// Up to 32 columns of a panel as the unit reads them. Columns that are not there are zero.
template <class L>
[[gnu::always_inline]] inline void make_pair_lines(const uint8_t* units, int columns, bool from_memory,
                                                   uint8_t* lines) {
  if (from_memory)
    for (int at = 0; at < kPairLines; at += kLineBytes) __builtin_prefetch(units + kPrefetchAhead + at);
  alignas(64) uint8_t last[kPairLines];
  if (columns < kBfloatColumns) {
    std::memset(last, 0, sizeof last);
    std::memcpy(last, units, static_cast<size_t>(columns * PanelBF16::kUnitBytes));
    units = last;
  }
  for (int at = 0; at < kPairLines; at += kLineBytes) L::store_pairs(lines + at, units + at);
}

// The sums of `rows` rows of one panel, of whose 16 weight rows the matrix has `valid`.
template <class L>
void store_bfloat_sums(const Tile& tile, int rows, int valid, const float* sums) {
  for (int r = 0; r < rows; ++r, sums += kPanelRows) {
    if (valid == kPanelRows) {
      for (int n = 0; n < kPanelRows; n += L::kLanes) store_result<L>(tile, r, n, L::load(sums + n));
      continue;
    }
    float* out = tile.out + static_cast<size_t>(r) * tile.out_stride;
    for (int n = 0; n < valid; ++n) {
      const float result = tile.bias == nullptr ? sums[n] : sums[n] + tile.bias[n];
      out[n] = tile.add ? out[n] + result : result;
    }
  }
}

// Rows r .. r + rows - 1, at most kBfloatRows, of Panels panels from `p` on. The next block's lines are made
// before a block is multiplied: the unit would have to wait for lines that were just written.
template <class L, int Panels>
void compute_bfloat_panels(const LinearTask& task, int r, int rows, int p,
                           const typename L::BfloatTiles& tiles) {
  alignas(64) uint8_t lines[2][kBfloatPanels * kPairLines];
  alignas(64) float sums[2 * kBfloatPanels][kTileUnitRows * kPanelRows];
  const Tile tile[2] = {tile_of<PanelBF16>(task, r, p), tile_of<PanelBF16>(task, r, p + Panels - 1)};
  const int blocks = bfloat_blocks(task.columns);
  const auto make_lines = [&](int b) {
    const int first = b * kBfloatColumns;
    for (int i = 0; i < Panels; ++i)
      make_pair_lines<L>(tile[i].panel + static_cast<size_t>(first) * PanelBF16::kUnitBytes,
                         task.columns - first, r == 0, lines[b % 2] + i * kPairLines);
  };
  tiles.zero();
  make_lines(0);
  const std::byte* parts = tile[0].input;
  for (int b = 0; b < blocks; ++b, parts += sizeof(BfloatBlock)) {
    if (b + 1 < blocks) make_lines(b + 1);
    tiles.template multiply<Panels>(lines[b % 2], parts, task.input_stride);
  }
  tiles.store(sums[0]);
  for (int i = 0; i < Panels; ++i)
    for (int first = 0; first < rows; first += kTileUnitRows) {
      Tile part = tile[i];
      part.out += static_cast<size_t>(first) * task.out_stride;
      const int left = rows - first, valid = task.outputs - (p + i) * kPanelRows;
      store_bfloat_sums<L>(part, left < kTileUnitRows ? left : kTileUnitRows,
                           valid < kPanelRows ? valid : kPanelRows,
                           sums[kBfloatPanels * (first / kTileUnitRows) + i]);
    }
}

template <class L>
void linear_by_bfloat_tiles(const LinearTask& task) {
  for (int r = 0; r < task.rows; r += kBfloatRows) {
    const int rows = task.rows - r < kBfloatRows ? task.rows - r : kBfloatRows;
    const typename L::BfloatTiles tiles(rows);
    int p = task.first_panel;
    for (; p + kBfloatPanels <= task.last_panel; p += kBfloatPanels)
      compute_bfloat_panels<L, kBfloatPanels>(task, r, rows, p, tiles);
    if (p < task.last_panel) compute_bfloat_panels<L, 1>(task, r, rows, p, tiles);
  }
}

}  // namespace tempo9::backend::cpu
