// How a quantised matrix lies in memory for tensor cores, and the contract that fixes the bits of a result
// whatever rows go with it.
//
// Layout. Sixteen rows by 64 columns are a stage; the stages of sixteen rows follow each other. In a stage,
// lane l = 4 g + t of a warp finds what it feeds to four multiplies of 16 x 8 x 16 (mma.sync's A operand): of
// rows g and g + 8 the columns 16 t .. 16 t + 15, four for each multiply. Element (i, e) of step s is row
// g + 8 (i % 2), column 16 t + 4 s + 2 (i / 2) + e. So a lane needs one scale of a row, and finds its inputs
// side by side.
//   kNibble32  [lane][step] u32, element (i, e) at bits 16 e + 4 i; then, of each g and each 32 columns,
//   scale
//              and minimum of row g, scale and minimum of row g + 8
//   kFive32    as kNibble32; before the scales [lane] u32 with bit 4 of element (i, e) of step s at
//              16 e + 4 s + i
//   kSix16     as kNibble32; then [lane][step / 2] u32 with bits 4 and 5 at 16 e + 2 (4 (s % 2) + i); then
//              [lane] the scales of its columns of row g, and of row g + 8; levels plus 32
//   kByte32    [step / 2][lane][step % 2] of 8 bytes 2 i + e, levels plus 128; then, of each g and each 32
//              columns, the scale of row g and that of row g + 8
//   kThree16   [lane] four u32: bits 0 and 1 as the upper bits of kSix16, bit 2 as that of kFive32, the
//   scales
//              as kSix16; levels plus 4
//   kE2m1      levels as kNibble32, E2M1 codes; scales as kByte32
// A level in the lower bits of an f16 is that level times 2^-24 (a subnormal), so that decoding is one fused
// multiply-add; scales carry the inverse power (scale_shift). Scales and minima are also multiplied by a
// power of two of the whole weight, so that f16 holds them well.
//
// Contract. weight = f16(level * scale + minimum), rounded once. Columns are cut into kParts parts at stage
// boundaries that depend on their number alone. Inputs are f16 of what the operation prepares, but for the
// factor of a norm, times a power of two of that part of the row; the squares of a norm are summed in the
// order of prepare.h. In a part one chain of multiplies of 16 columns, step after step, from zero, summed in
// f32 by the tensor core; the part's power of two is taken off; the parts are added in order; the weight's
// power of two and the norm's factor, as one; bias, then what was there.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tempo9::backend::cuda {

enum class TensorLayout : uint8_t { kNone, kNibble32, kFive32, kSix16, kByte32, kThree16, kE2m1 };

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
    case TensorLayout::kThree16:
      return 512;
    case TensorLayout::kE2m1:
      return 512 + 64;
    case TensorLayout::kNone:
      break;
  }
  return 0;
}

// The power of two that makes up for where a level lies in its f16: of row g and of row g + 8.
constexpr int scale_shift(TensorLayout layout, bool high_row) {
  switch (layout) {
    case TensorLayout::kByte32:
      return 24;
    case TensorLayout::kThree16:
      return 18;
    case TensorLayout::kE2m1:
      return 15;  // a code is taken for its value times 2^-14, a level is twice that value
    default:
      return high_row ? 20 : 24;
  }
}

// The first stage of part `part` of `stages`.
constexpr int part_begin(int part, int stages) {
  return part * stages / kParts;
}

}  // namespace tempo9::backend::cuda
