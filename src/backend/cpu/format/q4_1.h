// Q4_1 in panels: nibbles, scales, minima. 5 bits per weight, as in the file.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/q4_1.h"

namespace tempo9::backend::cpu {

struct PanelQ4_1 {
  using Block = quant::BlockQ4_1;
  static constexpr auto kFormat = quant::Format::kQ4_1;
  static constexpr int kMaxLevel = 15, kOffset = 0, kScales = 1, kMinima = 1;
  static constexpr int kScaleAt = 4 * kLineBytes, kMinimumAt = kScaleAt + 32;
  static constexpr int kUnitBytes = kMinimumAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      store_nibbles(unit, r, rows[r]->levels);
      store_scale(unit + kScaleAt, r, rows[r]->scale);
      store_scale(unit + kMinimumAt, r, rows[r]->minimum);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int /*block*/, int row, DecodedBlock<L>& out) {
    decode_nibbles<L>(unit, row, out.quads);
    out.scale[0] = load_scale<L>(unit + kScaleAt, row);
    out.minimum[0] = load_scale<L>(unit + kMinimumAt, row);
  }
};

}  // namespace tempo9::backend::cpu
