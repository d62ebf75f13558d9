// Q8_0 in panels: bytes, then scales. 8.5 bits per weight, as in the file.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/q8_0.h"

namespace tempo9::backend::cpu {

// Signed levels of the file become unsigned ones: 128 more.
struct PanelQ8_0 {
  using Block = quant::BlockQ8_0;
  static constexpr auto kFormat = quant::Format::kQ8_0;
  static constexpr int kMaxLevel = 255, kOffset = 128, kScales = 1, kMinima = 0;
  static constexpr int kScaleAt = 8 * kLineBytes;
  static constexpr int kUnitBytes = kScaleAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      const auto* levels = reinterpret_cast<const uint8_t*>(rows[r]->levels);
      for (int j = 0; j < 8; ++j) store_quad(unit, j, r, load_quad(levels + 4 * j) ^ 0x80808080u);
      store_scale(unit + kScaleAt, r, rows[r]->scale);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int /*block*/, int row, DecodedBlock<L>& out) {
    for (int j = 0; j < 8; ++j) out.quads[j] = L::load_quads(unit + kLineBytes * j + 4 * row);
    out.scale[0] = load_scale<L>(unit + kScaleAt, row);
  }
};

}  // namespace tempo9::backend::cpu
