// IQ4_XS in panels: nibbles that index the table of levels, then a byte of scale for each 32 columns (the
// file has six bits), then steps. 4.3125 bits per weight.
#pragma once
#include "backend/cpu/format/iq4_levels.h"
#include "quant/iq4_xs.h"

namespace tempo9::backend::cpu {

struct PanelIQ4_XS {
  using Block = quant::BlockIQ4_XS;
  static constexpr auto kFormat = quant::Format::kIQ4_XS;
  static constexpr int kMaxLevel = 255, kOffset = 128, kScales = 1, kMinima = 0;
  static constexpr int kBlockBytes = 4 * kLineBytes, kScalesAt = 8 * kBlockBytes;
  static constexpr int kStepAt = kScalesAt + 8 * kPanelRows;
  static constexpr int kUnitBytes = kStepAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      for (int n = 0; n < 8; ++n) {
        store_nibbles(unit + kBlockBytes * n, r, rows[r]->indices + 16 * n);
        unit[kScalesAt + kPanelRows * n + r] = static_cast<uint8_t>(rows[r]->scale(n));
      }
      store_scale(unit + kStepAt, r, rows[r]->step);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int block, int row, DecodedBlock<L>& out) {
    decode_nibbles<L>(unit + kBlockBytes * block, row, out.quads);
    for (auto& quad : out.quads) quad = L::look_up(kIq4Levels.bytes, quad);
    const auto* scales = reinterpret_cast<const int8_t*>(unit + kScalesAt + kPanelRows * block);
    out.scale[0] = L::mul(load_scale<L>(unit + kStepAt, row), L::signed_bytes(scales + row));
  }
};

}  // namespace tempo9::backend::cpu
