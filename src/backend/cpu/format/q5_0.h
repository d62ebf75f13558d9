// Q5_0 in panels: nibbles, a line of fifth bits, scales. 5.5 bits per weight, as in the file.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/q5_0.h"

namespace tempo9::backend::cpu {

struct PanelQ5_0 {
  using Block = quant::BlockQ5_0;
  static constexpr auto kFormat = quant::Format::kQ5_0;
  static constexpr int kMaxLevel = 31, kOffset = 16, kScales = 1, kMinima = 0;
  static constexpr int kHighAt = 4 * kLineBytes, kScaleAt = kHighAt + kLineBytes;
  static constexpr int kUnitBytes = kScaleAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      store_nibbles(unit, r, rows[r]->levels);
      store_bit_per_column(unit + kHighAt, r, load_quad(rows[r]->high_bit));
      store_scale(unit + kScaleAt, r, rows[r]->scale);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int /*block*/, int row, DecodedBlock<L>& out) {
    decode_nibbles<L>(unit, row, out.quads);
    decode_high_bits<L, 4>(unit + kHighAt, row, out.quads);
    out.scale[0] = load_scale<L>(unit + kScaleAt, row);
  }
};

}  // namespace tempo9::backend::cpu
