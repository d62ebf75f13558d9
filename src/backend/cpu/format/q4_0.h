// Q4_0 in panels: nibbles, then scales. 4.5 bits per weight, as in the file.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/q4_0.h"

namespace tempo9::backend::cpu {

struct PanelQ4_0 {
  using Block = quant::BlockQ4_0;
  static constexpr auto kFormat = quant::Format::kQ4_0;
  static constexpr int kMaxLevel = 15, kOffset = 8, kScales = 1, kMinima = 0;
  static constexpr int kScaleAt = 4 * kLineBytes;
  static constexpr int kUnitBytes = kScaleAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      store_nibbles(unit, r, rows[r]->levels);
      store_scale(unit + kScaleAt, r, rows[r]->scale);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int /*block*/, int row, DecodedBlock<L>& out) {
    decode_nibbles<L>(unit, row, out.quads);
    out.scale[0] = load_scale<L>(unit + kScaleAt, row);
  }
};

}  // namespace tempo9::backend::cpu
