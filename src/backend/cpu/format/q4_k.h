// Q4_K in panels: nibbles of eight sub-blocks, then their scales and minima. 4.625 bits per weight.
#pragma once
#include "backend/cpu/format/sub_block_scales.h"
#include "quant/q4_k.h"

namespace tempo9::backend::cpu {

struct PanelQ4_K {
  using Block = quant::BlockQ4_K;
  static constexpr auto kFormat = quant::Format::kQ4_K;
  static constexpr int kMaxLevel = 15, kOffset = 0, kScales = 1, kMinima = 1;
  static constexpr int kBlockBytes = 4 * kLineBytes, kScalesAt = 8 * kBlockBytes;
  static constexpr int kUnitBytes = kScalesAt + PanelScales::kBytes;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      for (int n = 0; n < 8; ++n)
        store_shifted_nibbles(unit + kBlockBytes * n, r, rows[r]->levels + n / 2 * 32, n % 2 * 4);
      PanelScales::repack(unit + kScalesAt, r, *rows[r]);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int block, int row, DecodedBlock<L>& out) {
    decode_nibbles<L>(unit + kBlockBytes * block, row, out.quads);
    PanelScales::decode<L>(unit + kScalesAt, block, row, out);
  }
};

}  // namespace tempo9::backend::cpu
