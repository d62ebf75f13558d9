// The leaf vocabulary and its meaning: one lane, plain C++. Every other leaf says the same words on several
// lanes and agrees with this one bit for bit. All algorithms above are templates over a leaf, written once.
//
// Types, one per lane:
//   Floats  a float
//   Ints    an int32
//   Quads   four bytes: four weights that stand next to each other in a row
//   Pairs   two bf16, the first in the low half
//
// A leaf's translation unit is compiled for its instruction set, and the linker keeps one copy of an inline
// function for all units. So leaves, and the templates over them, call builtins, their own kind and C
// functions only: nothing inline of another header (std::fma, std::min) may be emitted there.
#pragma once
#include <cstdint>
#include <cstring>

#include "backend/cpu/activation.h"
#include "quant/half.h"

namespace tempo9::backend::cpu {

struct ScalarLeaf {
  static constexpr int kLanes = 1;           // divides 16
  static constexpr int kTileRows = 2;        // activation rows of a tile, as registers allow
  static constexpr int kRegisters = 16;      // of Floats
  static constexpr bool kDotsPairs = false;  // whether pair_dot is one instruction
  using Floats = float;
  using Ints = int32_t;
  using Quads = uint32_t;
  using Pairs = uint32_t;

  static Floats zero() { return 0; }
  static Floats set(float x) { return x; }
  static Floats load(const float* p) { return *p; }
  static void store(float* p, Floats x) { *p = x; }
  static Floats add(Floats a, Floats b) { return a + b; }
  static Floats sub(Floats a, Floats b) { return a - b; }
  static Floats mul(Floats a, Floats b) { return a * b; }
  static Floats div(Floats a, Floats b) { return a / b; }
  static Floats max(Floats a, Floats b) { return a > b ? a : b; }  // b if either is NaN
  // a where x has its sign bit set, b elsewhere.
  static Floats if_negative(Floats x, Floats a, Floats b) { return quant::float_to_bits(x) >> 31 ? a : b; }
  static Floats fma(Floats a, Floats b, Floats c) { return __builtin_fmaf(a, b, c); }  // one rounding
  static Floats round(Floats x) { return __builtin_nearbyintf(x); }                    // ties to even
  static Floats power_of_two(Floats x) {  // x: a whole number, -126 .. 127; 1 for NaN
    const int32_t exponent = x == x ? static_cast<int32_t>(x) : 0;
    return quant::float_from_bits(static_cast<uint32_t>(exponent + 127) << 23);
  }
  static Floats to_floats(Ints x) { return static_cast<float>(x); }

  // Of the lanes of one vector. They are added by halves: lane i and lane i + kLanes / 2, and so on.
  static float sum_of_lanes(Floats x) { return x; }
  static float largest_lane(Floats x) { return x; }  // if none is NaN

  // Sixteen-bit floats. Loading is exact, storing rounds to nearest, ties to even.
  static Floats load_half(const uint16_t* p) { return quant::half_to_float(*p); }
  static Floats load_bfloat(const uint16_t* p) { return quant::bfloat_to_float(*p); }
  static void store_half(uint16_t* p, Floats x) { *p = quant::float_to_half(x); }

  // Bytes to floats; nibbles: the lower or upper four bits of each byte.
  static Floats unsigned_bytes(const uint8_t* p) { return static_cast<float>(*p); }
  static Floats signed_bytes(const int8_t* p) { return static_cast<float>(*p); }
  static Floats low_nibbles(const uint8_t* p) { return static_cast<float>(*p & 15); }
  static Floats high_nibbles(const uint8_t* p) { return static_cast<float>(*p >> 4); }

  static Quads load_quads(const uint8_t* p) {
    Quads x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  // Shifts right (left if negative), then masks each byte.
  template <int Right>
  static Quads bits(Quads x, uint8_t mask) {
    constexpr int kRight = Right > 0 ? Right : 0, kLeft = Right < 0 ? -Right : 0;
    return x >> kRight << kLeft & mask * 0x01010101u;
  }
  static Quads merge(Quads a, Quads b) { return a | b; }
  // Each byte, 0 .. 15, replaced by its entry in the table.
  static Quads look_up(const uint8_t* table, Quads x) {
    Quads y = 0;
    for (int shift = 0; shift < 32; shift += 8) y |= static_cast<Quads>(table[x >> shift & 15]) << shift;
    return y;
  }

  // The exact sum over 4 * N columns of (weight - Offset) * activation. Weights are 0 .. Max, Offset is 0 or
  // a power of two, `minus128` has one entry per 16 columns (see ActivationBlock).
  template <int N, int Max, int Offset>
  static Ints dot(const Quads* weights, const int8_t* activations, const int32_t* /*minus128*/) {
    Ints sum = 0;
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < 4; ++i)
        sum += (static_cast<int>(weights[j] >> (8 * i) & 255) - Offset) * activations[4 * j + i];
    return sum;
  }

  // A leaf may have this word too: the dots of two activation rows over the same weights, in half `half` of
  // their blocks (N = 4) or all of it (N = 8, half = 0).
  //   template <int N, int Max, int Offset>
  //   static void dot_two_rows(const Quads* weights, const ActivationBlock& x, const ActivationBlock& y,
  //                            int half, Ints* sums);
  // And this: the dots of Rows activation rows, `stride` bytes apart, over the same weights of full bytes.
  //   template <int N, int Rows>
  //   static void full_dots(const Quads* weights, const std::byte* levels, size_t stride, Ints* sums);

  // sum + odd * odd, rounded, then + even * even, rounded; products of bf16 are exact. This is the order of
  // the vdpbf16ps instruction (which flushes subnormals; they do not matter to the callers).
  static Pairs load_pairs(const uint32_t* p) { return *p; }
  static Floats pair_dot(Pairs x, uint32_t pair, Floats sum) {
    return fma(even_of(x), even_of(pair), fma(odd_of(x), odd_of(pair), sum));
  }
  // The second of each pair, and the first.
  static Floats odd_of(Pairs x) { return quant::float_from_bits(x & 0xffff0000u); }
  static Floats even_of(Pairs x) { return quant::float_from_bits(x << 16); }

  // Of 32 values, the largest magnitude; a NaN counts as larger than everything.
  static float largest_magnitude(const float* x) {
    uint32_t largest = 0;
    for (int i = 0; i < kBlockColumns; ++i) {
      const uint32_t magnitude = quant::float_to_bits(x[i]) & 0x7fffffffu;
      largest = magnitude > largest ? magnitude : largest;
    }
    return quant::float_from_bits(largest);
  }
  // Fills levels and minus128 with 32 values times `inverse`, rounded.
  static void to_levels(const float* x, float inverse, ActivationBlock& out) {
    int32_t sum[2] = {0, 0};
    for (int i = 0; i < kBlockColumns; ++i) {
      const int level = static_cast<int>(round(x[i] * inverse));
      out.levels[i] = static_cast<int8_t>(level);
      sum[i / 16] += level;
    }
    for (int half = 0; half < 2; ++half) out.minus128[half] = -128 * sum[half];
  }
};

}  // namespace tempo9::backend::cpu
