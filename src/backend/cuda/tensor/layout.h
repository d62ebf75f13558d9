// How a quantised matrix lies in memory for tensor cores, and the contract that fixes the bits of a result
// whatever rows go with it.
//
// Layout. Sixteen rows by 64 columns are a stage; the stages of sixteen rows follow each other. In a stage,
// lane l = 4 g + t of a warp finds what it feeds to four multiplies of 16 x 8 x 16 (mma.sync's A operand):
// for step s, of rows g and g + 8 the columns 16 s + 2 t, + 1, + 8, + 9. Element (i, e) of a step is row
// g + 8 (i % 2), column 16 s + 2 t + 8 (i / 2) + e. Then come the scales, per g: those of row g, then those
// of row g + 8, f16.
//   kNibble32   [lane][step] u32, element (i, e) at bits 16 e + 4 i; scale and minimum of each 32 columns
//   kFive32     as kNibble32; before the scales [lane] u32 with bit 4 of element (i, e) of step s at 16 e + 4
//   s + i kSix16      as kNibble32; before the scales [lane][step / 2] u32 with bits 4 and 5 at 16 e + 2 (4
//   (s % 2) + i);
//               a scale of each 16 columns, levels less 32
//   kByte32     [step / 2][lane][step % 2] of 8 bytes 2 i + e, levels plus 128; a scale of each 32 columns
// Scales and minima are multiplied by a power of two of the whole weight, so that f16 holds them well.
//
// Contract. weight = f16(level * scale + minimum), rounded once. Inputs are f16 of the row times a power of
// two (of the row alone). Columns are cut into kParts parts at stage boundaries that depend on their number
// alone; in a part one chain of multiplies of 16 columns, ascending, from zero, summed in f32 by the tensor
// core; the parts are added in order; the powers of two are taken off; bias, then what was there.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tempo9::backend::cuda {

enum class TensorLayout : uint8_t { kNone, kNibble32, kFive32, kSix16, kByte32 };

constexpr int kStageRows = 16, kStageColumns = 64, kParts = 8;

constexpr int stage_bytes(TensorLayout layout) {
  switch (layout) {
    case TensorLayout::kNibble32:
      return 512 + 128;
    case TensorLayout::kFive32:
      return 512 + 128 + 128;
    case TensorLayout::kSix16:
      return 512 + 256 + 128;
    case TensorLayout::kByte32:
      return 1024 + 64;
    case TensorLayout::kNone:
      break;
  }
  return 0;
}

// The first stage of part `part` of `stages`.
constexpr int part_begin(int part, int stages) {
  return part * stages / kParts;
}

}  // namespace tempo9::backend::cuda
