// A lane's share of a stage of each layout, and its decoding to the A operand of a multiply. A layout is a
// struct here, and nothing else in the loops.
#pragma once
#include "backend/cuda/tensor/layout.h"
#include "backend/cuda/tensor/mma.h"

namespace tempo9::backend::cuda {

// Bits at `mask`, wherever `shift` to the right (negative: to the left) puts them.
template <int shift>
__device__ __forceinline__ uint32_t moved(uint32_t v) {
  return shift >= 0 ? v >> (shift >= 0 ? shift : 0) : v << (shift < 0 ? -shift : 0);
}
template <int i>
__device__ __forceinline__ uint32_t part_of(uint4 v) {
  return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// Levels whose offset is taken off by the multiply-add: f16 of -offset, times 2^-24 and where they lie.
constexpr uint32_t kMinus32 = 0x80208020, kMinus32High = 0x82008200;  // times 2^-24, 2^-20
constexpr uint32_t kMinus128 = 0x80808080, kMinus4 = 0x81008100;      // times 2^-24, 2^-18

// Element pair i of a step whose nibbles are `word`: of an even i at the lowest bits, else four higher.
template <int i>
__device__ __forceinline__ uint32_t nibbles(uint32_t word) {
  return (i < 2 ? word : word >> 8) & (i % 2 == 0 ? 0x000f000fu : 0x00f000f0u);
}

// A lane's places in a stage, from which it moves on over the stages of sixteen rows.
template <bool shared>
struct Place {
  const uint8_t *sixteen, *eight, *four, *pair,
      *pair_four;  // bytes of each lane; eight, or four, of each two lanes

  __device__ __forceinline__ Place(const uint8_t* stage, uint32_t lane)
      : sixteen(stage + 16 * lane),
        eight(stage + 8 * lane),
        four(stage + 4 * lane),
        pair(stage + lane / 2 * 8),
        pair_four(stage + lane / 2 * 4) {}
  __device__ __forceinline__ void move(int64_t bytes) {
    sixteen += bytes, eight += bytes, four += bytes, pair += bytes, pair_four += bytes;
  }
  template <class T>
  static __device__ __forceinline__ T read(const uint8_t* from) {
    const T* place = reinterpret_cast<const T*>(from);
    if constexpr (shared) return *place;
    return __ldg(place);  // of a weight: never written by a kernel
  }
  static __device__ __forceinline__ uint4 load16(const uint8_t* from) { return read<uint4>(from); }
  static __device__ __forceinline__ uint2 load8(const uint8_t* from) { return read<uint2>(from); }
  static __device__ __forceinline__ uint32_t load4(const uint8_t* from) { return read<uint32_t>(from); }
};
using StagePlace = Place<false>;  // in device memory
using SharedPlace = Place<true>;

// load() takes the stage that is n after `at`.
template <TensorLayout layout>
struct Stage;

template <>
struct Stage<TensorLayout::kNibble32> {
  uint4 levels;
  uint2 scales;  // and minima
  template <class From>
  __device__ __forceinline__ void load(const From& at, int n) {
    const int first = n * stage_bytes(TensorLayout::kNibble32);
    levels = From::load16(at.sixteen + first);
    scales = From::load8(at.pair + first + 512);
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const uint32_t word = part_of<step>(levels);
    const uint32_t low = low_twice(scales.x), low_minimum = high_twice(scales.x);
    const uint32_t high = low_twice(scales.y), high_minimum = high_twice(scales.y);
    a[0] = fused2(nibbles<0>(word), low, low_minimum);
    a[1] = fused2(nibbles<1>(word), high, high_minimum);
    a[2] = fused2(nibbles<2>(word), low, low_minimum);
    a[3] = fused2(nibbles<3>(word), high, high_minimum);
  }
};

template <>
struct Stage<TensorLayout::kFive32> {
  uint4 levels;
  uint2 scales;  // and minima
  uint32_t fifth;
  template <class From>
  __device__ __forceinline__ void load(const From& at, int n) {
    const int first = n * stage_bytes(TensorLayout::kFive32);
    levels = From::load16(at.sixteen + first);
    fifth = From::load4(at.four + first + 512);
    scales = From::load8(at.pair + first + 640);
  }
  template <int step, int i>
  __device__ __forceinline__ uint32_t element() const {
    constexpr int to = i % 2 == 0 ? 4 : 8;
    return nibbles<i>(part_of<step>(levels)) | (moved<4 * step + i - to>(fifth) & (0x00010001u << to));
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const uint32_t low = low_twice(scales.x), low_minimum = high_twice(scales.x);
    const uint32_t high = low_twice(scales.y), high_minimum = high_twice(scales.y);
    a[0] = fused2(element<step, 0>(), low, low_minimum);
    a[1] = fused2(element<step, 1>(), high, high_minimum);
    a[2] = fused2(element<step, 2>(), low, low_minimum);
    a[3] = fused2(element<step, 3>(), high, high_minimum);
  }
};

template <>
struct Stage<TensorLayout::kSix16> {
  uint4 levels;
  uint2 upper;
  uint32_t scales;
  template <class From>
  __device__ __forceinline__ void load(const From& at, int n) {
    const int first = n * stage_bytes(TensorLayout::kSix16);
    levels = From::load16(at.sixteen + first);
    upper = From::load8(at.eight + first + 512);
    scales = From::load4(at.four + first + 768);
  }
  template <int step, int i>
  __device__ __forceinline__ uint32_t element() const {
    constexpr int to = i % 2 == 0 ? 4 : 8;
    const uint32_t bits = step < 2 ? upper.x : upper.y;
    return nibbles<i>(part_of<step>(levels)) |
           (moved<2 * (4 * (step % 2) + i) - to>(bits) & (0x00030003u << to));
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const uint32_t low = low_twice(scales), high = high_twice(scales);
    const uint32_t low_offset = multiply2(low, kMinus32), high_offset = multiply2(high, kMinus32High);
    a[0] = fused2(element<step, 0>(), low, low_offset);
    a[1] = fused2(element<step, 1>(), high, high_offset);
    a[2] = fused2(element<step, 2>(), low, low_offset);
    a[3] = fused2(element<step, 3>(), high, high_offset);
  }
};

template <>
struct Stage<TensorLayout::kByte32> {
  uint4 levels[2];
  uint32_t scales;
  template <class From>
  __device__ __forceinline__ void load(const From& at, int n) {
    const int first = n * stage_bytes(TensorLayout::kByte32);
    levels[0] = From::load16(at.sixteen + first);
    levels[1] = From::load16(at.sixteen + first + 512);
    scales = From::load4(at.pair_four + first + 1024);
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const uint32_t first = part_of<2 * (step % 2)>(levels[step / 2]);
    const uint32_t second = part_of<2 * (step % 2) + 1>(levels[step / 2]);
    const uint32_t low = low_twice(scales), high = high_twice(scales);
    const uint32_t low_offset = multiply2(low, kMinus128), high_offset = multiply2(high, kMinus128);
    a[0] = fused2(__byte_perm(first, 0, 0x4140), low, low_offset);
    a[1] = fused2(__byte_perm(first, 0, 0x4342), high, high_offset);
    a[2] = fused2(__byte_perm(second, 0, 0x4140), low, low_offset);
    a[3] = fused2(__byte_perm(second, 0, 0x4342), high, high_offset);
  }
};

template <>
struct Stage<TensorLayout::kThree16> {
  uint4 bits;
  template <class From>
  __device__ __forceinline__ void load(const From& at, int n) {
    const int first = n * stage_bytes(TensorLayout::kThree16);
    bits = From::load16(at.sixteen + first);
  }
  template <int step, int i>
  __device__ __forceinline__ uint32_t element() const {
    constexpr int to = 6;
    const uint32_t pairs = step < 2 ? bits.x : bits.y;
    return (moved<2 * (4 * (step % 2) + i) - to>(pairs) & (0x00030003u << to)) |
           (moved<4 * step + i - to - 2>(bits.z) & (0x00040004u << to));
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const uint32_t low = low_twice(bits.w), high = high_twice(bits.w);
    const uint32_t low_offset = multiply2(low, kMinus4), high_offset = multiply2(high, kMinus4);
    a[0] = fused2(element<step, 0>(), low, low_offset);
    a[1] = fused2(element<step, 1>(), high, high_offset);
    a[2] = fused2(element<step, 2>(), low, low_offset);
    a[3] = fused2(element<step, 3>(), high, high_offset);
  }
};

// The three bits below an E2M1 code's sign are the last two of an f16's exponent and the first of its
// mantissa: so placed, they are its value times 2^-14, the subnormal one too.
template <>
struct Stage<TensorLayout::kE2m1> {
  uint4 codes;
  uint32_t scales;
  template <class From>
  __device__ __forceinline__ void load(const From& at, int n) {
    const int first = n * stage_bytes(TensorLayout::kE2m1);
    codes = From::load16(at.sixteen + first);
    scales = From::load4(at.pair_four + first + 512);
  }
  template <int step, int i>
  __device__ __forceinline__ uint32_t element() const {
    const uint32_t word = part_of<step>(codes);
    return (moved<4 * i - 12>(word) & 0x80008000u) | (moved<4 * i - 9>(word) & 0x0e000e00u);
  }
  template <int step>
  __device__ __forceinline__ void fragment(uint32_t (&a)[4]) const {
    const uint32_t low = low_twice(scales), high = high_twice(scales);
    a[0] = multiply2(element<step, 0>(), low);
    a[1] = multiply2(element<step, 1>(), high);
    a[2] = multiply2(element<step, 2>(), low);
    a[3] = multiply2(element<step, 3>(), high);
  }
};

}  // namespace tempo9::backend::cuda
