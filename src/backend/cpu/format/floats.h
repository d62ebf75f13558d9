// Unquantised matrices. A unit is one column of 16 rows; activations stay f32 and every product is an f32
// fma.
#pragma once
#include "backend/cpu/format/panel.h"
#include "quant/bf16.h"
#include "quant/f16.h"
#include "quant/f32.h"

namespace tempo9::backend::cpu {

template <class FileBlock, quant::Format kNumber>
struct PanelFloats {
  using Block = FileBlock;
  static constexpr auto kFormat = kNumber;
  static constexpr int kUnitBytes = kPanelRows * sizeof(Block);

  static void repack(const Block* const* rows, uint8_t* unit) {
    for (int r = 0; r < kPanelRows; ++r) std::memcpy(unit + sizeof(Block) * r, rows[r], sizeof(Block));
  }

  template <class L>
  static typename L::Floats load(const uint8_t* unit, int row) {
    if constexpr (kNumber == quant::Format::kF32) {
      return L::load(reinterpret_cast<const float*>(unit) + row);
    } else if constexpr (kNumber == quant::Format::kF16) {
      return L::load_half(reinterpret_cast<const uint16_t*>(unit) + row);
    } else {
      return L::load_bfloat(reinterpret_cast<const uint16_t*>(unit) + row);
    }
  }
};

using PanelF32 = PanelFloats<quant::BlockF32, quant::Format::kF32>;
using PanelF16 = PanelFloats<quant::BlockF16, quant::Format::kF16>;
using PanelBF16 = PanelFloats<quant::BlockBF16, quant::Format::kBF16>;

template <class Format>
inline constexpr bool kIsFloats = false;
template <class FileBlock, quant::Format kNumber>
inline constexpr bool kIsFloats<PanelFloats<FileBlock, kNumber>> = true;

}  // namespace tempo9::backend::cpu
