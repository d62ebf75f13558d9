#include "backend/cuda/tensor/repack.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "base/check.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"

namespace tempo9::backend::cuda {
namespace {

using quant::load_half;

constexpr int kMostBlockColumns = 256;
constexpr unsigned kMostThreads = 16;

// What a format says of a sub-block of 16 or 32 columns: value = scale * level + minimum.
struct Affine {
  float scale, minimum;
};
Affine affine(const quant::BlockQ4_0& b, int) {
  return {load_half(b.scale), -8 * load_half(b.scale)};
}
Affine affine(const quant::BlockQ4_1& b, int) {
  return {load_half(b.scale), load_half(b.minimum)};
}
Affine affine(const quant::BlockQ5_0& b, int) {
  return {load_half(b.scale), -16 * load_half(b.scale)};
}
Affine affine(const quant::BlockQ5_1& b, int) {
  return {load_half(b.scale), load_half(b.minimum)};
}
Affine affine(const quant::BlockQ4_K& b, int sub) {
  return {load_half(b.scale_step) * static_cast<float>(b.scales.scale(sub)),
          -load_half(b.minimum_step) * static_cast<float>(b.scales.minimum(sub))};
}
Affine affine(const quant::BlockQ5_K& b, int sub) {
  return {load_half(b.scale_step) * static_cast<float>(b.scales.scale(sub)),
          -load_half(b.minimum_step) * static_cast<float>(b.scales.minimum(sub))};
}
Affine affine(const quant::BlockQ6_K& b, int sub) {
  return {load_half(b.step) * static_cast<float>(b.scales[sub]), 0};
}
Affine affine(const quant::BlockQ8_0& b, int) {
  return {load_half(b.scale), 0};
}
Affine affine(const quant::BlockIQ4_NL& b, int) {
  return {load_half(b.scale), 0};
}
Affine affine(const quant::BlockIQ4_XS& b, int sub) {
  return {load_half(b.step) * static_cast<float>(b.scale(sub)), 0};
}

Affine affine(const quant::BlockQ3_K& b, int sub) {
  return {load_half(b.step) * static_cast<float>(b.scale(sub)), 0};
}
// Levels are twice the value of a code, so that all are integers.
Affine affine(const quant::BlockMXFP4& b, int) {
  return {quant::half_scale(b.exponent), 0};
}

struct LayoutTraits {
  int sub_columns;      // that share a scale
  int lowest, highest;  // levels
  bool minima;
};
constexpr LayoutTraits traits(TensorLayout layout) {
  switch (layout) {
    case TensorLayout::kNibble32:
      return {32, 0, 15, true};
    case TensorLayout::kFive32:
      return {32, 0, 31, true};
    case TensorLayout::kSix16:
      return {16, -32, 31, false};
    case TensorLayout::kThree16:
      return {16, -4, 3, false};
    case TensorLayout::kE2m1:
      return {32, -12, 12, false};
    default:
      return {32, -128, 127, false};
  }
}

// Sixteen rows by kMostBlockColumns columns (or fewer), as levels from 0 on, scales and minima.
struct Unit {
  uint8_t levels[kStageRows][kMostBlockColumns];
  Affine subs[kStageRows][kMostBlockColumns / 16];
};

template <class Work>
void on_threads(size_t count, const Work& work) {
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
  };
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
  std::vector<std::jthread> helpers;
  for (unsigned t = 1; t < std::min<size_t>(threads, count); ++t) helpers.emplace_back(run);
  run();
}

void put16(uint8_t* place, float value) {
  quant::store_u16(quant::float_to_half(value), place);
}

// Of twice each value from the lowest on; what is between is never asked for.
constexpr std::array<uint8_t, 25> make_e2m1_codes() {
  constexpr int doubled[] = {0, 1, 2, 3, 4, 6, 8, 12};
  std::array<uint8_t, 25> codes{};
  for (int code = 0; code < 8; ++code) {
    codes[static_cast<size_t>(12 - doubled[code])] = static_cast<uint8_t>(code + 8);
    codes[static_cast<size_t>(12 + doubled[code])] = static_cast<uint8_t>(code);
  }
  return codes;
}
constexpr std::array<uint8_t, 25> kE2m1Codes = make_e2m1_codes();

// What a lane has of a stage's levels (layout.h).
struct LaneWords {
  uint32_t step[4] = {};   // kThree16: none
  uint32_t upper[2] = {};  // kSix16: bits 4 and 5; kThree16: bits 0 and 1
  uint32_t high = 0;       // kFive32: bit 4; kThree16: bit 2
};

template <TensorLayout layout>
LaneWords words_of(const uint8_t* low_row, const uint8_t* high_row) {
  LaneWords words;
#pragma GCC unroll 4
  for (int s = 0; s < 4; ++s)
#pragma GCC unroll 8
    for (int n = 0; n < 8; ++n) {
      const int i = n / 2, e = n % 2;
      uint32_t level = (i % 2 == 0 ? low_row : high_row)[4 * s + 2 * (i / 2) + e];
      const int pair_at = 16 * e + 2 * (4 * (s % 2) + i), bit_at = 16 * e + 4 * s + i;
      if (layout == TensorLayout::kThree16) {
        words.upper[s / 2] |= (level & 3) << pair_at;
        words.high |= level >> 2 << bit_at;
        continue;
      }
      if (layout == TensorLayout::kE2m1) level = kE2m1Codes[level];
      words.step[s] |= (level & 15) << (16 * e + 4 * i);
      if (layout == TensorLayout::kFive32) words.high |= level >> 4 << bit_at;
      if (layout == TensorLayout::kSix16) words.upper[s / 2] |= level >> 4 << pair_at;
    }
  return words;
}

void put32(uint8_t* place, uint32_t word) {
  quant::store_u16(static_cast<uint16_t>(word), place);
  quant::store_u16(static_cast<uint16_t>(word >> 16), place + 2);
}

// A lane's levels of a stage: those of its columns in its two rows.
template <TensorLayout layout>
void put_levels(uint8_t* stage, int lane, const uint8_t* low_row, const uint8_t* high_row) {
  if constexpr (layout == TensorLayout::kByte32) {
    for (int s = 0; s < 4; ++s)
      for (int n = 0; n < 8; ++n)
        stage[(s / 2 * 32 + lane) * 16 + s % 2 * 8 + n] =
            (n / 2 % 2 == 0 ? low_row : high_row)[4 * s + 2 * (n / 4) + n % 2];
    return;
  }
  const LaneWords words = words_of<layout>(low_row, high_row);
  if constexpr (layout == TensorLayout::kThree16) {
    put32(stage + lane * 16, words.upper[0]);
    put32(stage + lane * 16 + 4, words.upper[1]);
    put32(stage + lane * 16 + 8, words.high);
    return;
  }
  for (int s = 0; s < 4; ++s) put32(stage + lane * 16 + s * 4, words.step[s]);
  if constexpr (layout == TensorLayout::kFive32) put32(stage + 512 + lane * 4, words.high);
  if constexpr (layout == TensorLayout::kSix16)
    for (int h = 0; h < 2; ++h) put32(stage + 512 + lane * 8 + h * 4, words.upper[h]);
}

// Scale and minimum of a row's sub-block of a stage.
void put_scale(TensorLayout layout, uint8_t* stage, int row, int sub, Affine affine) {
  const int g = row % 8, high = row / 8;
  uint8_t* last = stage + stage_bytes(layout);
  const float scale = std::ldexp(affine.scale, scale_shift(layout, high != 0));
  switch (layout) {
    case TensorLayout::kNibble32:
    case TensorLayout::kFive32:
      put16(last - 128 + ((2 * g + sub) * 2 + high) * 4, scale);
      put16(last - 128 + ((2 * g + sub) * 2 + high) * 4 + 2, affine.minimum);
      break;
    case TensorLayout::kSix16:
      put16(last - 128 + (4 * g + sub) * 4 + high * 2, scale);
      break;
    case TensorLayout::kThree16:
      put16(stage + (4 * g + sub) * 16 + 12 + high * 2, scale);
      break;
    default:
      put16(last - 64 + (2 * g + sub) * 4 + high * 2, scale);
  }
}

// Four stages' worth or one: whatever `unit` holds, into consecutive stages, every byte of them.
template <TensorLayout layout>
void pack(const Unit& unit, int stages, float factor, uint8_t* out) {
  constexpr LayoutTraits t = traits(layout);
  constexpr int subs = kStageColumns / t.sub_columns;
  for (int stage = 0; stage < stages; ++stage, out += stage_bytes(layout)) {
    for (int lane = 0; lane < 32; ++lane) {
      const int column = stage * kStageColumns + lane % 4 * 16;
      put_levels<layout>(out, lane, unit.levels[lane / 4] + column, unit.levels[lane / 4 + 8] + column);
    }
    for (int row = 0; row < kStageRows; ++row)
      for (int s = 0; s < subs; ++s) {
        const Affine sub = unit.subs[row][stage * subs + s];
        put_scale(layout, out, row, s, {sub.scale * factor, sub.minimum * factor});
      }
  }
}

// The largest magnitudes of scales, and of minima.
template <class Block>
Affine largest_of(const Block* blocks, size_t count, const LayoutTraits& t) {
  Affine largest{0, 0};
  for (size_t b = 0; b < count; ++b)
    for (int s = 0; s < Block::kColumns / t.sub_columns; ++s) {
      const Affine sub = affine(blocks[b], s);
      if (std::isfinite(sub.scale)) largest.scale = std::max(largest.scale, std::abs(sub.scale));
      if (std::isfinite(sub.minimum)) largest.minimum = std::max(largest.minimum, std::abs(sub.minimum));
    }
  return largest;
}

// Brings the largest scale and minimum as near to f16's limit as their places in it allow.
int exponent_of(Affine largest, TensorLayout layout) {
  constexpr int kTop = 14, kMost = 100;
  int exponent = kMost;
  if (largest.scale > 0)
    exponent = std::min(exponent, kTop - scale_shift(layout, false) - std::ilogb(largest.scale));
  if (largest.minimum > 0) exponent = std::min(exponent, kTop - std::ilogb(largest.minimum));
  return std::max(exponent, -kMost);
}

void raise(std::atomic<uint32_t>& largest, float value) {  // bits of positive floats are ordered as they are
  const uint32_t bits = quant::float_to_bits(value);
  uint32_t seen = largest.load(std::memory_order_relaxed);
  while (seen < bits && !largest.compare_exchange_weak(seen, bits)) {
  }
}

// A level is found from the value that the format's own decoding gives: it is off by much less than half.
template <TensorLayout layout>
void find_levels(const float* values, Affine sub, uint8_t* levels) {
  constexpr LayoutTraits t = traits(layout);
  constexpr auto lowest = static_cast<float>(t.lowest), range = static_cast<float>(t.highest - t.lowest);
  for (int k = 0; k < t.sub_columns; ++k) {
    const float level = (values[k] - sub.minimum) / sub.scale;
    const bool finite = level > -1e9f && level < 1e9f;
    const float from_lowest = (finite ? level : 0.0f) - lowest;
    const float bounded = from_lowest < 0 ? 0.0f : from_lowest > range ? range : from_lowest;
    levels[k] = static_cast<uint8_t>(static_cast<int>(bounded + 0.5f));
  }
}

template <TensorLayout layout, class Block>
void read_unit(const Block* const* rows, int valid, int blocks, Unit& unit) {
  constexpr int sub_columns = traits(layout).sub_columns;
  for (int row = 0; row < valid; ++row)
    for (int b = 0; b < blocks; ++b) {
      float values[Block::kColumns];
      decode(rows[row][b], values);
      for (int s = 0; s < Block::kColumns / sub_columns; ++s) {
        const Affine sub = affine(rows[row][b], s);
        const int first = b * Block::kColumns + s * sub_columns;
        unit.subs[row][first / sub_columns] = sub;
        find_levels<layout>(values + s * sub_columns, sub, unit.levels[row] + first);
      }
    }
}

template <class Block, TensorLayout layout>
TensorMatrix repack_blocks(const WeightSource& source) {
  constexpr int kUnitColumns = std::max(kStageColumns, Block::kColumns);
  constexpr int kUnitBlocks = kUnitColumns / Block::kColumns, kUnitStages = kUnitColumns / kStageColumns;
  constexpr LayoutTraits t = traits(layout);
  const auto* blocks = reinterpret_cast<const Block*>(source.bytes.data());
  const auto row_blocks = static_cast<size_t>(source.columns / Block::kColumns);
  const auto rows = static_cast<size_t>(source.rows);

  std::atomic<uint32_t> largest_scale{0}, largest_minimum{0};
  on_threads(rows * static_cast<size_t>(source.count), [&](size_t row) {
    const Affine largest = largest_of(blocks + row * row_blocks, row_blocks, t);
    raise(largest_scale, largest.scale);
    raise(largest_minimum, largest.minimum);
  });
  TensorMatrix matrix;
  matrix.layout = layout;
  matrix.exponent =
      exponent_of({quant::float_from_bits(largest_scale), quant::float_from_bits(largest_minimum)}, layout);
  const float factor = std::ldexp(1.0f, matrix.exponent);

  const auto groups = static_cast<size_t>(row_groups(source.rows)),
             units = static_cast<size_t>(source.columns / kUnitColumns);
  const size_t unit_bytes = static_cast<size_t>(kUnitStages * stage_bytes(layout));
  matrix.size = static_cast<size_t>(source.count) * groups * units * unit_bytes;
  matrix.memory = std::make_unique_for_overwrite<uint8_t[]>(matrix.size);
  on_threads(static_cast<size_t>(source.count) * groups, [&](size_t i) {
    const size_t first = i / groups * rows + i % groups * kStageRows;
    const int valid = static_cast<int>(std::min<size_t>(kStageRows, rows - i % groups * kStageRows));
    for (size_t u = 0; u < units; ++u) {
      const Block* row_places[kStageRows];
      for (int r = 0; r < valid; ++r)
        row_places[r] = blocks + (first + static_cast<size_t>(r)) * row_blocks + u * kUnitBlocks;
      Unit unit{};
      read_unit<layout>(row_places, valid, kUnitBlocks, unit);
      pack<layout>(unit, kUnitStages, factor, matrix.memory.get() + (i * units + u) * unit_bytes);
    }
  });
  return matrix;
}

}  // namespace

TensorLayout tensor_layout(quant::Format format, int columns) {
  if (columns % kStageColumns != 0) return TensorLayout::kNone;
  switch (format) {
    case quant::Format::kQ4_0:
    case quant::Format::kQ4_1:
    case quant::Format::kQ4_K:
      return TensorLayout::kNibble32;
    case quant::Format::kQ5_0:
    case quant::Format::kQ5_1:
    case quant::Format::kQ5_K:
      return TensorLayout::kFive32;
    case quant::Format::kQ3_K:
      return TensorLayout::kThree16;
    case quant::Format::kQ6_K:
      return TensorLayout::kSix16;
    case quant::Format::kMXFP4:
      return TensorLayout::kE2m1;
    case quant::Format::kQ8_0:
    case quant::Format::kIQ4_NL:
    case quant::Format::kIQ4_XS:
      return TensorLayout::kByte32;
    default:
      return TensorLayout::kNone;
  }
}

TensorMatrix repack(const WeightSource& source) {
  using enum TensorLayout;
  switch (source.format) {
    case quant::Format::kQ3_K:
      return repack_blocks<quant::BlockQ3_K, kThree16>(source);
    case quant::Format::kQ4_0:
      return repack_blocks<quant::BlockQ4_0, kNibble32>(source);
    case quant::Format::kQ4_1:
      return repack_blocks<quant::BlockQ4_1, kNibble32>(source);
    case quant::Format::kQ4_K:
      return repack_blocks<quant::BlockQ4_K, kNibble32>(source);
    case quant::Format::kQ5_0:
      return repack_blocks<quant::BlockQ5_0, kFive32>(source);
    case quant::Format::kQ5_1:
      return repack_blocks<quant::BlockQ5_1, kFive32>(source);
    case quant::Format::kQ5_K:
      return repack_blocks<quant::BlockQ5_K, kFive32>(source);
    case quant::Format::kQ6_K:
      return repack_blocks<quant::BlockQ6_K, kSix16>(source);
    case quant::Format::kQ8_0:
      return repack_blocks<quant::BlockQ8_0, kByte32>(source);
    case quant::Format::kIQ4_NL:
      return repack_blocks<quant::BlockIQ4_NL, kByte32>(source);
    case quant::Format::kIQ4_XS:
      return repack_blocks<quant::BlockIQ4_XS, kByte32>(source);
    case quant::Format::kMXFP4:
      return repack_blocks<quant::BlockMXFP4, kE2m1>(source);
    default:
      CHECK(!"a format without a layout for tensor cores");
      return {};
  }
}

}  // namespace tempo9::backend::cuda
