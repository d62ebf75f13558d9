// MXFP4 in panels: nibbles that index the table of levels, then scales as bf16, which holds every power of
// two that the exponents stand for. 4.5 bits per weight.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/mxfp4.h"

namespace tempo9::backend::cpu {

// Doubled values, -12 .. 12, 16 more.
constexpr LevelTable make_mxfp4_levels() {
  LevelTable table{};
  for (int i = 0; i < 16; ++i) table.bytes[i] = static_cast<uint8_t>(quant::doubled_e2m1(i) + 16);
  return table;
}
inline constexpr LevelTable kMxfp4Levels = make_mxfp4_levels();

struct PanelMXFP4 {
  using Block = quant::BlockMXFP4;
  static constexpr auto kFormat = quant::Format::kMXFP4;
  static constexpr int kMaxLevel = 28, kOffset = 16, kScales = 1, kMinima = 0;
  static constexpr int kScaleAt = 4 * kLineBytes;
  static constexpr int kUnitBytes = kScaleAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      store_nibbles(unit, r, rows[r]->levels);
      quant::store_u16(quant::float_to_bfloat(quant::half_scale(rows[r]->exponent)), unit + kScaleAt + 2 * r);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int /*block*/, int row, DecodedBlock<L>& out) {
    decode_nibbles<L>(unit, row, out.quads);
    for (auto& quad : out.quads) quad = L::look_up(kMxfp4Levels.bytes, quad);
    out.scale[0] = L::load_bfloat(reinterpret_cast<const uint16_t*>(unit + kScaleAt) + row);
  }
};

}  // namespace tempo9::backend::cpu
