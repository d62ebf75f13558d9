// Q6_K in panels: nibbles and two lines of upper bits for each of eight sub-blocks, then a byte of scale for
// each 16 columns, then steps. 6.5625 bits per weight, as in the file.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/q6_k.h"

namespace tempo9::backend::cpu {

struct PanelQ6_K {
  using Block = quant::BlockQ6_K;
  static constexpr auto kFormat = quant::Format::kQ6_K;
  static constexpr int kMaxLevel = 63, kOffset = 32, kScales = 2, kMinima = 0;
  static constexpr int kHighAt = 4 * kLineBytes;  // in a block: two lines with the upper two bits
  static constexpr int kBlockBytes = kHighAt + 2 * kLineBytes, kScalesAt = 8 * kBlockBytes;
  static constexpr int kStepAt = kScalesAt + 16 * kPanelRows;
  static constexpr int kUnitBytes = kStepAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      const Block& block = *rows[r];
      for (int n = 0; n < 8; ++n) {
        const int half = n / 4, group = n % 4;
        uint8_t* lines = unit + kBlockBytes * n;
        store_shifted_nibbles(lines, r, block.low + 64 * half + 32 * (group % 2), group / 2 * 4);
        store_shifted_crumbs(lines + kHighAt, r, block.high + 32 * half, 2 * group);
      }
      for (int s = 0; s < 16; ++s)
        unit[kScalesAt + kPanelRows * s + r] = static_cast<uint8_t>(block.scales[s]);
      store_scale(unit + kStepAt, r, block.step);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int block, int row, DecodedBlock<L>& out) {
    const uint8_t* lines = unit + kBlockBytes * block;
    decode_nibbles<L>(lines, row, out.quads);
    for (int half = 0; half < 2; ++half) {
      const auto high = L::load_quads(lines + kHighAt + kLineBytes * half + 4 * row);
      auto* quads = out.quads + 4 * half;
      quads[0] = L::merge(quads[0], L::template bits<-4>(high, 48));
      quads[1] = L::merge(quads[1], L::template bits<-2>(high, 48));
      quads[2] = L::merge(quads[2], L::template bits<0>(high, 48));
      quads[3] = L::merge(quads[3], L::template bits<2>(high, 48));
    }
    decode_signed_scales<L>(unit + kScalesAt, unit + kStepAt, block, row, out);
  }
};

}  // namespace tempo9::backend::cpu
