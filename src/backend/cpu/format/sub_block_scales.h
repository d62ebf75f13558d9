// The scales and minima of a unit of Q4_K or Q5_K: two f16 steps, then a byte for each scale and minimum of
// eight sub-blocks. Bytes cost 2.7% more memory than the file's six bits and are faster to take apart.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/half.h"

namespace tempo9::backend::cpu {

struct PanelScales {
  static constexpr int kScaleStepAt = 0, kMinimumStepAt = 32, kSubBlocksAt = 64;
  static constexpr int kBytes = kSubBlocksAt + 8 * 2 * kPanelRows;

  template <class Block>
  static void repack(uint8_t* out, int row, const Block& block) {
    store_scale(out + kScaleStepAt, row, block.scale_step);
    uint8_t negated[2];  // minima are subtracted
    quant::store_u16(quant::load_u16(block.minimum_step) ^ 0x8000, negated);
    store_scale(out + kMinimumStepAt, row, negated);
    for (int s = 0; s < 8; ++s) {
      uint8_t* bytes = out + kSubBlocksAt + 2 * kPanelRows * s;
      bytes[row] = static_cast<uint8_t>(block.scales.scale(s));
      bytes[kPanelRows + row] = static_cast<uint8_t>(block.scales.minimum(s));
    }
  }

  template <class L>
  static void decode(const uint8_t* scales, int block, int row, DecodedBlock<L>& out) {
    const uint8_t* bytes = scales + kSubBlocksAt + 2 * kPanelRows * block + row;
    out.scale[0] = L::mul(load_scale<L>(scales + kScaleStepAt, row), L::unsigned_bytes(bytes));
    out.minimum[0] =
        L::mul(load_scale<L>(scales + kMinimumStepAt, row), L::unsigned_bytes(bytes + kPanelRows));
  }
};

}  // namespace tempo9::backend::cpu
