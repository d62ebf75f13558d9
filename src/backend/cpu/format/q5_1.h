// Q5_1 in panels: nibbles, a line of fifth bits, scales, minima. 6 bits per weight, as in the file.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/q5_1.h"

namespace tempo9::backend::cpu {

struct PanelQ5_1 {
  using Block = quant::BlockQ5_1;
  static constexpr auto kFormat = quant::Format::kQ5_1;
  static constexpr int kMaxLevel = 31, kOffset = 0, kScales = 1, kMinima = 1;
  static constexpr int kHighAt = 4 * kLineBytes, kScaleAt = kHighAt + kLineBytes;
  static constexpr int kMinimumAt = kScaleAt + 32;
  static constexpr int kUnitBytes = kMinimumAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      store_nibbles(unit, r, rows[r]->levels);
      store_bit_per_column(unit + kHighAt, r, load_quad(rows[r]->high_bit));
      store_scale(unit + kScaleAt, r, rows[r]->scale);
      store_scale(unit + kMinimumAt, r, rows[r]->minimum);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int /*block*/, int row, DecodedBlock<L>& out) {
    decode_nibbles<L>(unit, row, out.quads);
    decode_high_bits<L, 4>(unit + kHighAt, row, out.quads);
    out.scale[0] = load_scale<L>(unit + kScaleAt, row);
    out.minimum[0] = load_scale<L>(unit + kMinimumAt, row);
  }
};

}  // namespace tempo9::backend::cpu
