// A lane's share of a stage of each layout, and its decoding to the A operand of a multiply. A layout is a
// struct here, and nothing else in the loops.
#pragma once
#include "backend/cuda/tensor/layout.h"
#include "backend/cuda/tensor/mma.h"

namespace tempo9::backend::cuda {

constexpr uint32_t kBias = 0x64006400;  // 1024 in both halves: or-ed to a level it is 1024 + level
constexpr uint32_t kMinus1024 = 0xe400e400, kMinus1056 = 0xe420e420, kMinus1152 = 0xe480e480;
constexpr uint32_t kSixteenth = 0x2c002c00, kMinus64 = 0xd400d400;

// Bits at `mask`, wherever `shift` to the right (negative: to the left) puts them.
template <int shift>
__device__ __forceinline__ uint32_t moved(uint32_t v) {
  return shift >= 0 ? v >> (shift >= 0 ? shift : 0) : v << (shift < 0 ? -shift : 0);
}
template <int i>
__device__ __forceinline__ uint32_t part_of(uint4 v) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// Scale and minimum of rows g and g + 8 in a block of 32 columns.
template <int block>
struct ScaledRows {
  uint32_t low_scale, low_minimum, high_scale, high_minimum;
  __device__ __forceinline__ explicit ScaledRows(uint4 scales)
      : low_scale(low_twice(part_of<block>(scales))),
        low_minimum(high_twice(part_of<block>(scales))),
        high_scale(low_twice(part_of<2 + block>(scales))),
        high_minimum(high_twice(part_of<2 + block>(scales))) {}
};

template <TensorLayout layout>
struct Stage;

template <>
struct Stage<TensorLayout::kNibble32> {
  uint4 levels, scales;
  __device__ __forceinline__ void load(const uint8_t* stage, uint32_t lane) {
    levels = load_weight16(stage + 16 * lane);
    scales = load_weight16(stage + 512 + 16 * (lane / 4));
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const ScaledRows<step / 2> rows(scales);
    const uint32_t word = part_of<step>(levels), upper = word >> 8;
    const auto low = [](uint32_t v) { return add2((v & 0x000f000fu) | kBias, kMinus1024); };
    const auto high = [](uint32_t v) { return fused2((v & 0x00f000f0u) | kBias, kSixteenth, kMinus64); };
    a[0] = fused2(low(word), rows.low_scale, rows.low_minimum);
    a[1] = fused2(high(word), rows.high_scale, rows.high_minimum);
    a[2] = fused2(low(upper), rows.low_scale, rows.low_minimum);
    a[3] = fused2(high(upper), rows.high_scale, rows.high_minimum);
  }
};

template <>
struct Stage<TensorLayout::kFive32> {
  uint4 levels, scales;
  uint32_t fifth;
  __device__ __forceinline__ void load(const uint8_t* stage, uint32_t lane) {
    levels = load_weight16(stage + 16 * lane);
    fifth = load_weight4(stage + 512 + 4 * lane);
    scales = load_weight16(stage + 640 + 16 * (lane / 4));
  }
  template <int step, int i>
  __device__ __forceinline__ uint32_t element() const {
    const uint32_t level =
        (part_of<step>(levels) >> (4 * i) & 0x000f000fu) | (moved<4 * step + i - 4>(fifth) & 0x00100010u);
    return add2(level | kBias, kMinus1024);
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const ScaledRows<step / 2> rows(scales);
    a[0] = fused2(element<step, 0>(), rows.low_scale, rows.low_minimum);
    a[1] = fused2(element<step, 1>(), rows.high_scale, rows.high_minimum);
    a[2] = fused2(element<step, 2>(), rows.low_scale, rows.low_minimum);
    a[3] = fused2(element<step, 3>(), rows.high_scale, rows.high_minimum);
  }
};

template <>
struct Stage<TensorLayout::kSix16> {
  uint4 levels, scales;
  uint2 upper;
  __device__ __forceinline__ void load(const uint8_t* stage, uint32_t lane) {
    levels = load_weight16(stage + 16 * lane);
    upper = load_weight8(stage + 512 + 8 * lane);
    scales = load_weight16(stage + 768 + 16 * (lane / 4));
  }
  template <int step, int i>
  __device__ __forceinline__ uint32_t element() const {
    const uint32_t bits = step < 2 ? upper.x : upper.y;
    const uint32_t level = (part_of<step>(levels) >> (4 * i) & 0x000f000fu) |
                           (moved<2 * (4 * (step % 2) + i) - 4>(bits) & 0x00300030u);
    return add2(level | kBias, kMinus1056);
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const uint32_t low_pair = part_of<step / 2>(scales), high_pair = part_of<2 + step / 2>(scales);
    const uint32_t low = step % 2 == 0 ? low_twice(low_pair) : high_twice(low_pair);
    const uint32_t high = step % 2 == 0 ? low_twice(high_pair) : high_twice(high_pair);
    a[0] = multiply2(element<step, 0>(), low);
    a[1] = multiply2(element<step, 1>(), high);
    a[2] = multiply2(element<step, 2>(), low);
    a[3] = multiply2(element<step, 3>(), high);
  }
};

template <>
struct Stage<TensorLayout::kByte32> {
  uint4 levels[2];
  uint2 scales;
  __device__ __forceinline__ void load(const uint8_t* stage, uint32_t lane) {
    levels[0] = load_weight16(stage + 16 * lane);
    levels[1] = load_weight16(stage + 512 + 16 * lane);
    scales = load_weight8(stage + 1024 + 8 * (lane / 4));
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const uint32_t first = part_of<2 * (step % 2)>(levels[step / 2]);
    const uint32_t second = part_of<2 * (step % 2) + 1>(levels[step / 2]);
    const uint32_t low = step < 2 ? low_twice(scales.x) : high_twice(scales.x);
    const uint32_t high = step < 2 ? low_twice(scales.y) : high_twice(scales.y);
    a[0] = multiply2(add2(__byte_perm(first, kBias, 0x5150), kMinus1152), low);
    a[1] = multiply2(add2(__byte_perm(first, kBias, 0x5352), kMinus1152), high);
    a[2] = multiply2(add2(__byte_perm(second, kBias, 0x5150), kMinus1152), low);
    a[3] = multiply2(add2(__byte_perm(second, kBias, 0x5352), kMinus1152), high);
  }
};

}  // namespace tempo9::backend::cuda
