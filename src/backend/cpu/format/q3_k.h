// Q3_K in panels: two bits per level and a line of third bits, then a byte of scale for each 16 columns (the
// file has six bits), then steps. 3.5625 bits per weight.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/q3_k.h"

namespace tempo9::backend::cpu {

struct PanelQ3_K {
  using Block = quant::BlockQ3_K;
  static constexpr auto kFormat = quant::Format::kQ3_K;
  static constexpr int kMaxLevel = 7, kOffset = 4, kScales = 2, kMinima = 0;
  static constexpr int kHighAt = 2 * kLineBytes;  // in a block
  static constexpr int kBlockBytes = kHighAt + kLineBytes, kScalesAt = 8 * kBlockBytes;
  static constexpr int kStepAt = kScalesAt + 16 * kPanelRows;
  static constexpr int kUnitBytes = kStepAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      const Block& block = *rows[r];
      for (int n = 0; n < 8; ++n) {
        uint8_t* lines = unit + kBlockBytes * n;
        store_shifted_crumbs(lines, r, block.levels + 32 * (n / 4), 2 * (n % 4));
        store_shifted_bits(lines + kHighAt, r, block.high_bit, n);
      }
      for (int s = 0; s < 16; ++s)
        unit[kScalesAt + kPanelRows * s + r] = static_cast<uint8_t>(block.scale(s));
      store_scale(unit + kStepAt, r, block.step);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int block, int row, DecodedBlock<L>& out) {
    const uint8_t* lines = unit + kBlockBytes * block;
    decode_crumbs<L>(lines, row, out.quads);
    decode_high_bits<L, 2>(lines + kHighAt, row, out.quads);
    decode_signed_scales<L>(unit + kScalesAt, unit + kStepAt, block, row, out);
  }
};

}  // namespace tempo9::backend::cpu
