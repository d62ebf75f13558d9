#include "backend/cuda/tensor/repack.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "base/check.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
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

// Four stages' worth or one: whatever `unit` holds, into consecutive stages.
void pack(TensorLayout layout, const Unit& unit, int stages, float factor, uint8_t* out) {
  const LayoutTraits t = traits(layout);
  for (int stage = 0; stage < stages; ++stage, out += stage_bytes(layout)) {
    uint8_t* scales = out + stage_bytes(layout) - (layout == TensorLayout::kByte32 ? 64 : 128);
    for (int row = 0; row < kStageRows; ++row) {
      const int g = row % 8, high_row = row / 8;
      for (int k = 0; k < kStageColumns; ++k) {
        const uint32_t level = unit.levels[row][stage * kStageColumns + k];
        const int step = k / 16, within = k % 8, e = within % 2, lane = 4 * g + within / 2;
        const int i = high_row + 2 * (k % 16 / 8);
        if (layout == TensorLayout::kByte32) {
          out[(step / 2 * 32 + lane) * 16 + step % 2 * 8 + 2 * i + e] = static_cast<uint8_t>(level);
          continue;
        }
        const int bit = 16 * e + 4 * i;  // within the step's word
        out[(lane * 4 + step) * 4 + bit / 8] |= static_cast<uint8_t>((level & 15) << (bit % 8));
        if (layout == TensorLayout::kFive32) {
          const int at = 16 * e + 4 * step + i;
          out[512 + lane * 4 + at / 8] |= static_cast<uint8_t>((level >> 4) << (at % 8));
        } else if (layout == TensorLayout::kSix16) {
          const int at = 16 * e + 2 * (4 * (step % 2) + i);
          out[512 + lane * 8 + step / 2 * 4 + at / 8] |= static_cast<uint8_t>((level >> 4) << (at % 8));
        }
      }
      const int subs = kStageColumns / t.sub_columns, per_row = subs * (t.minima ? 2 : 1);
      for (int s = 0; s < subs; ++s) {
        const Affine sub = unit.subs[row][stage * subs + s];
        uint8_t* place = scales + ((g * 2 + high_row) * per_row + s * (t.minima ? 2 : 1)) * 2;
        put16(place, sub.scale * factor);
        if (t.minima) put16(place + 2, sub.minimum * factor);
      }
    }
  }
}

// The largest magnitude that a weight can have.
template <class Block>
float largest_value(const Block* blocks, size_t count, const LayoutTraits& t) {
  const auto most = static_cast<float>(std::max(-t.lowest, t.highest));
  float largest = 0;
  for (size_t b = 0; b < count; ++b)
    for (int s = 0; s < Block::kColumns / t.sub_columns; ++s) {
      const Affine sub = affine(blocks[b], s);
      const float bound = std::abs(sub.scale) * most + std::abs(sub.minimum);
      if (std::isfinite(bound)) largest = std::max(largest, bound);
    }
  return largest;
}

// A level is found from the value that the format's own decoding gives: it is off by much less than half.
template <class Block>
void read_unit(const Block* const* rows, int valid, int blocks, const LayoutTraits& t, Unit& unit) {
  for (int row = 0; row < valid; ++row)
    for (int b = 0; b < blocks; ++b) {
      float values[Block::kColumns];
      decode(rows[row][b], values);
      for (int s = 0; s < Block::kColumns / t.sub_columns; ++s) {
        const Affine sub = affine(rows[row][b], s);
        const int first = b * Block::kColumns + s * t.sub_columns;
        unit.subs[row][first / t.sub_columns] = sub;
        for (int k = 0; k < t.sub_columns; ++k) {
          const float level = std::nearbyint((values[s * t.sub_columns + k] - sub.minimum) / sub.scale);
          const float bounded = std::clamp(std::isfinite(level) ? level : 0.0f, static_cast<float>(t.lowest),
                                           static_cast<float>(t.highest));
          unit.levels[row][first + k] = static_cast<uint8_t>(static_cast<int>(bounded) - t.lowest);
        }
      }
    }
}

template <class Block>
TensorMatrix repack_blocks(const WeightSource& source, TensorLayout layout) {
  constexpr int kUnitColumns = std::max(kStageColumns, Block::kColumns);
  constexpr int kUnitBlocks = kUnitColumns / Block::kColumns, kUnitStages = kUnitColumns / kStageColumns;
  const LayoutTraits t = traits(layout);
  const auto* blocks = reinterpret_cast<const Block*>(source.bytes.data());
  const auto row_blocks = static_cast<size_t>(source.columns / Block::kColumns);
  const auto rows = static_cast<size_t>(source.rows);

  std::atomic<uint32_t> largest_bits{0};  // of positive floats: ordered as they are
  on_threads(rows * static_cast<size_t>(source.count), [&](size_t row) {
    const uint32_t bits = quant::float_to_bits(largest_value(blocks + row * row_blocks, row_blocks, t));
    uint32_t seen = largest_bits.load(std::memory_order_relaxed);
    while (seen < bits && !largest_bits.compare_exchange_weak(seen, bits)) {
    }
  });
  const float largest = quant::float_from_bits(largest_bits);
  TensorMatrix matrix{layout, 0, {}};
  if (largest > 0) matrix.exponent = std::clamp(14 - std::ilogb(largest), -100, 100);
  const float factor = std::ldexp(1.0f, matrix.exponent);

  const auto groups = static_cast<size_t>(row_groups(source.rows)),
             units = static_cast<size_t>(source.columns / kUnitColumns);
  const size_t unit_bytes = static_cast<size_t>(kUnitStages * stage_bytes(layout));
  matrix.bytes.resize(static_cast<size_t>(source.count) * groups * units * unit_bytes);
  on_threads(static_cast<size_t>(source.count) * groups, [&](size_t i) {
    const size_t first = i / groups * rows + i % groups * kStageRows;
    const int valid = static_cast<int>(std::min<size_t>(kStageRows, rows - i % groups * kStageRows));
    for (size_t u = 0; u < units; ++u) {
      const Block* row_places[kStageRows];
      for (int r = 0; r < valid; ++r)
        row_places[r] = blocks + (first + static_cast<size_t>(r)) * row_blocks + u * kUnitBlocks;
      Unit unit{};
      read_unit(row_places, valid, kUnitBlocks, t, unit);
      pack(layout, unit, kUnitStages, factor, matrix.bytes.data() + (i * units + u) * unit_bytes);
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
    case quant::Format::kQ6_K:
      return TensorLayout::kSix16;
    case quant::Format::kQ8_0:
    case quant::Format::kIQ4_NL:
    case quant::Format::kIQ4_XS:
      return TensorLayout::kByte32;
    default:
      return TensorLayout::kNone;
  }
}

TensorMatrix repack(const WeightSource& source) {
  const TensorLayout layout = tensor_layout(source.format, source.columns);
  switch (source.format) {
    case quant::Format::kQ4_0:
      return repack_blocks<quant::BlockQ4_0>(source, layout);
    case quant::Format::kQ4_1:
      return repack_blocks<quant::BlockQ4_1>(source, layout);
    case quant::Format::kQ4_K:
      return repack_blocks<quant::BlockQ4_K>(source, layout);
    case quant::Format::kQ5_0:
      return repack_blocks<quant::BlockQ5_0>(source, layout);
    case quant::Format::kQ5_1:
      return repack_blocks<quant::BlockQ5_1>(source, layout);
    case quant::Format::kQ5_K:
      return repack_blocks<quant::BlockQ5_K>(source, layout);
    case quant::Format::kQ6_K:
      return repack_blocks<quant::BlockQ6_K>(source, layout);
    case quant::Format::kQ8_0:
      return repack_blocks<quant::BlockQ8_0>(source, layout);
    case quant::Format::kIQ4_NL:
      return repack_blocks<quant::BlockIQ4_NL>(source, layout);
    case quant::Format::kIQ4_XS:
      return repack_blocks<quant::BlockIQ4_XS>(source, layout);
    default:
      CHECK(!"a format without a layout for tensor cores");
      return {};
  }
}

}  // namespace tempo9::backend::cuda
