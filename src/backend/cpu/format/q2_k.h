// Q2_K in panels: two bits per level, then a byte with scale and minimum of each 16 columns, then the two
// steps. 2.625 bits per weight, as in the file.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/q2_k.h"

namespace tempo9::backend::cpu {

struct PanelQ2_K {
  using Block = quant::BlockQ2_K;
  static constexpr auto kFormat = quant::Format::kQ2_K;
  static constexpr int kMaxLevel = 3, kOffset = 0, kScales = 2, kMinima = 2;
  static constexpr int kBlockBytes = 2 * kLineBytes, kScalesAt = 8 * kBlockBytes;
  static constexpr int kScaleStepAt = kScalesAt + 16 * kPanelRows, kMinimumStepAt = kScaleStepAt + 32;
  static constexpr int kUnitBytes = kMinimumStepAt + 32;

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) {
      const Block& block = *rows[r];
      for (int n = 0; n < 8; ++n)
        store_shifted_crumbs(unit + kBlockBytes * n, r, block.levels + 32 * (n / 4), 2 * (n % 4));
      for (int s = 0; s < 16; ++s) unit[kScalesAt + kPanelRows * s + r] = block.scales[s];
      store_scale(unit + kScaleStepAt, r, block.scale_step);
      store_scale(unit + kMinimumStepAt, r, block.minimum_step);
    }
  }

  template <class L>
  static void decode(const uint8_t* unit, int block, int row, DecodedBlock<L>& out) {
    decode_crumbs<L>(unit + kBlockBytes * block, row, out.quads);
    const auto scale_step = load_scale<L>(unit + kScaleStepAt, row);
    // A minimum is subtracted, and divided by -128: what is left is the division.
    const auto minimum_step = L::mul(load_scale<L>(unit + kMinimumStepAt, row), L::set(1.0f / 128.0f));
    for (int half = 0; half < 2; ++half) {
      const uint8_t* scales = unit + kScalesAt + kPanelRows * (2 * block + half) + row;
      out.scale[half] = L::mul(scale_step, L::low_nibbles(scales));
      out.minimum[half] = L::mul(minimum_step, L::high_nibbles(scales));
    }
  }
};

}  // namespace tempo9::backend::cpu
