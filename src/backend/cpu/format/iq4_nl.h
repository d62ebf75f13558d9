// IQ4_NL in panels: nibbles that index the table of levels, then scales. 4.5 bits per weight, as in the file.
#pragma once
#include "backend/cpu/format/iq4_levels.h"
#include "quant/iq4_nl.h"

namespace tempo9::backend::cpu {

struct PanelIQ4_NL {
  using Block = quant::BlockIQ4_NL;
  static constexpr auto kFormat = quant::Format::kIQ4_NL;
  static constexpr int kMaxLevel = 255, kOffset = 128, kScales = 1, kMinima = 0;
  static constexpr int kScaleAt = 4 * kLineBytes;
  static constexpr int kUnitBytes = kScaleAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      store_nibbles(unit, r, rows[r]->indices);
      store_scale(unit + kScaleAt, r, rows[r]->scale);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int /*block*/, int row, DecodedBlock<L>& out) {
    decode_nibbles<L>(unit, row, out.quads);
    for (auto& quad : out.quads) quad = L::look_up(kIq4Levels.bytes, quad);
    out.scale[0] = load_scale<L>(unit + kScaleAt, row);
  }
};

}  // namespace tempo9::backend::cpu
