// Q5_K in panels: nibbles and a line of fifth bits for each of eight sub-blocks, then their scales and
// minima. 5.625 bits per weight.
#pragma once
#include "backend/cpu/format/sub_block_scales.h"
#include "quant/q5_k.h"

namespace tempo9::backend::cpu {

struct PanelQ5_K {
  using Block = quant::BlockQ5_K;
  static constexpr auto kFormat = quant::Format::kQ5_K;
  static constexpr int kMaxLevel = 31, kOffset = 0, kScales = 1, kMinima = 1;
  static constexpr int kHighAt = 4 * kLineBytes;  // in a block
  static constexpr int kBlockBytes = kHighAt + kLineBytes, kScalesAt = 8 * kBlockBytes;
  static constexpr int kUnitBytes = kScalesAt + PanelScales::kBytes;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      for (int n = 0; n < 8; ++n) {
        uint8_t* lines = unit + kBlockBytes * n;
        store_shifted_nibbles(lines, r, rows[r]->levels + n / 2 * 32, n % 2 * 4);
        store_shifted_bits(lines + kHighAt, r, rows[r]->high_bit, n);
      }
      PanelScales::repack(unit + kScalesAt, r, *rows[r]);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int block, int row, DecodedBlock<L>& out) {
    const uint8_t* lines = unit + kBlockBytes * block;
    decode_nibbles<L>(lines, row, out.quads);
    decode_high_bits<L, 4>(lines + kHighAt, row, out.quads);
    PanelScales::decode<L>(unit + kScalesAt, block, row, out);
  }
};

}  // namespace tempo9::backend::cpu
