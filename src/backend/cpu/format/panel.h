// Weights in memory as kernels read them: panels of 16 rows. A panel is a row of units, one per block of the
// file's format. Where activations are int8, a unit consists of
//   lines   64 bytes: four adjacent columns (a quad) of 16 rows, row r at bytes 4 r .. 4 r + 3. A line is
//   what
//           one byte-product instruction takes, for 1, 4, 8 or 16 lanes alike.
//   scales  of 16 rows side by side.
// Levels keep the number of bits that they have in the file.
//
// A format is a struct with
//   Block       the file's block (quant/<name>.h)
//   kFormat     its number
//   kUnitBytes  of a unit
//   kMaxLevel, kOffset  weight = scale * (level - kOffset) [+ minimum], 0 <= level <= kMaxLevel, in bytes
//   kScales     scales per 32 columns: 1 or 2
//   kMinima     minima per 32 columns: 0, 1 or 2
//   repack()    16 blocks (one of each row) to a unit
//   decode()    32 columns of a unit to registers, L::kLanes rows from `row` on
#pragma once
#include <cstdint>

#include "backend/cpu/activation.h"
#include "quant/formats.h"

namespace tempo9::backend::cpu {

inline constexpr int kPanelRows = 16;
inline constexpr int kLineBytes = 64;

// What formats with uneven levels look up, in unsigned bytes.
struct LevelTable {
  uint8_t bytes[16];
};

template <class L>
struct DecodedBlock {
  typename L::Quads quads[8];
  typename L::Floats scale[2];
  // With one minimum: the minimum. With two: the minimum of each 16 columns divided by -128, to go with
  // ActivationBlock::minus128.
  typename L::Floats minimum[2];
};

// Row `row` of an array of 16 f16 scales.
template <class L>
typename L::Floats load_scale(const uint8_t* scales, int row) {
  return L::load_half(reinterpret_cast<const uint16_t*>(scales) + row);
}

// Four lines hold 32 columns of 4 bits: quad j in the low nibbles of line j, quad j + 4 in the high ones.
template <class L>
void decode_nibbles(const uint8_t* lines, int row, typename L::Quads* quads) {
  for (int j = 0; j < 4; ++j) {
    const auto both = L::load_quads(lines + kLineBytes * j + 4 * row);
    quads[j] = L::template bits<0>(both, 15);
    quads[j + 4] = L::template bits<4>(both, 15);
  }
}

// Two lines hold 32 columns of 2 bits: quad j in line j / 4, shifted by 2 (j % 4).
template <class L>
void decode_crumbs(const uint8_t* lines, int row, typename L::Quads* quads) {
  for (int half = 0; half < 2; ++half) {
    const auto four = L::load_quads(lines + kLineBytes * half + 4 * row);
    quads[4 * half] = L::template bits<0>(four, 3);
    quads[4 * half + 1] = L::template bits<2>(four, 3);
    quads[4 * half + 2] = L::template bits<4>(four, 3);
    quads[4 * half + 3] = L::template bits<6>(four, 3);
  }
}

// Merges one more bit into each level: bit j of a byte of the line becomes bit kBit of quad j.
template <class L, int kBit>
void decode_high_bits(const uint8_t* line, int row, typename L::Quads* quads) {
  constexpr uint8_t kMask = 1 << kBit;
  const auto bits = L::load_quads(line + 4 * row);
  quads[0] = L::merge(quads[0], L::template bits<0 - kBit>(bits, kMask));
  quads[1] = L::merge(quads[1], L::template bits<1 - kBit>(bits, kMask));
  quads[2] = L::merge(quads[2], L::template bits<2 - kBit>(bits, kMask));
  quads[3] = L::merge(quads[3], L::template bits<3 - kBit>(bits, kMask));
  quads[4] = L::merge(quads[4], L::template bits<4 - kBit>(bits, kMask));
  quads[5] = L::merge(quads[5], L::template bits<5 - kBit>(bits, kMask));
  quads[6] = L::merge(quads[6], L::template bits<6 - kBit>(bits, kMask));
  quads[7] = L::merge(quads[7], L::template bits<7 - kBit>(bits, kMask));
}

// A signed byte of scale for each 16 columns, and an f16 step: Q3_K and Q6_K.
template <class L>
void decode_signed_scales(const uint8_t* scales, const uint8_t* step, int block, int row,
                          DecodedBlock<L>& out) {
  const auto d = load_scale<L>(step, row);
  for (int half = 0; half < 2; ++half) {
    const auto* bytes = reinterpret_cast<const int8_t*>(scales + kPanelRows * (2 * block + half));
    out.scale[half] = L::mul(d, L::signed_bytes(bytes + row));
  }
}

}  // namespace tempo9::backend::cpu
