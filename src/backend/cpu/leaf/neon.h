// AArch64 with the dot product extension (sdot): 4 lanes. The words are explained in scalar.h. Weights go
// as signed bytes: levels of up to seven bits as they are, full bytes with the top bit turned, which takes
// their offset away as well.
//
// Templates over the final leaf, so that no function of one target has the name of another's (scalar.h).
#pragma once
#include <arm_neon.h>

#include <cstdint>
#include <cstring>

#include "backend/cpu/activation.h"

namespace tempo9::backend::cpu {

template <class Final>
struct NeonLeaf {
  static constexpr int kLanes = 4, kTileRows = 8, kRegisters = 32;
  static constexpr bool kDotsPairs = false;
  using Floats = float32x4_t;
  using Ints = int32x4_t;
  using Quads = uint8x16_t;
  using Pairs = uint32x4_t;

  static Floats zero() { return vdupq_n_f32(0); }
  static Floats set(float x) { return vdupq_n_f32(x); }
  static Floats load(const float* p) { return vld1q_f32(p); }
  static void store(float* p, Floats x) { vst1q_f32(p, x); }
  static Floats add(Floats a, Floats b) { return vaddq_f32(a, b); }
  static Floats sub(Floats a, Floats b) { return vsubq_f32(a, b); }
  static Floats mul(Floats a, Floats b) { return vmulq_f32(a, b); }
  static Floats div(Floats a, Floats b) { return vdivq_f32(a, b); }
  // Not vmaxq_f32, which gives NaN if either is, and the larger of two zeros.
  static Floats max(Floats a, Floats b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
  static Floats if_negative(Floats x, Floats a, Floats b) {
    return vbslq_f32(vcltzq_s32(vreinterpretq_s32_f32(x)), a, b);
  }
  static Floats fma(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }
  static Floats round(Floats x) { return vrndnq_f32(x); }
  static Floats power_of_two(Floats x) {
    const Ints exponent = vaddq_s32(vcvtq_s32_f32(x), vdupq_n_s32(127));
    return vreinterpretq_f32_s32(vshlq_n_s32(exponent, 23));
  }
  static Floats to_floats(Ints x) { return vcvtq_f32_s32(x); }

  static float sum_of_lanes(Floats x) {
    const float32x2_t s = vadd_f32(vget_low_f32(x), vget_high_f32(x));
    return vget_lane_f32(vpadd_f32(s, s), 0);
  }
  static float largest_lane(Floats x) { return vmaxvq_f32(x); }

  static Floats load_half(const uint16_t* p) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
  static Floats load_bfloat(const uint16_t* p) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16)); }
  static void store_half(uint16_t* p, Floats x) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(x))); }

  static Floats unsigned_bytes(const uint8_t* p) { return vcvtq_f32_u32(widen(four_bytes(p))); }
  static Floats signed_bytes(const int8_t* p) {
    const int8x8_t bytes = vreinterpret_s8_u8(four_bytes(reinterpret_cast<const uint8_t*>(p)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(bytes))));
  }
  static Floats low_nibbles(const uint8_t* p) {
    return vcvtq_f32_u32(widen(vand_u8(four_bytes(p), vdup_n_u8(15))));
  }
  static Floats high_nibbles(const uint8_t* p) { return vcvtq_f32_u32(widen(vshr_n_u8(four_bytes(p), 4))); }

  static Quads load_quads(const uint8_t* p) { return vld1q_u8(p); }
  template <int Right>
  static Quads bits(Quads x, uint8_t mask) {
    uint32x4_t words = vreinterpretq_u32_u8(x);
    if constexpr (Right > 0) words = vshrq_n_u32(words, Right);
    if constexpr (Right < 0) words = vshlq_n_u32(words, -Right);
    return vandq_u8(vreinterpretq_u8_u32(words), vdupq_n_u8(mask));
  }
  static Quads merge(Quads a, Quads b) { return vorrq_u8(a, b); }
  static Quads look_up(const uint8_t* table, Quads x) { return vqtbl1q_u8(vld1q_u8(table), x); }

  template <int N, int Max, int Offset>
  static Ints dot(const Quads* weights, const int8_t* activations, const int32_t* minus128) {
    Ints sum = start_of_sum<N, Max, Offset>(minus128);
    for (int j = 0; j < N; j += 4) {
      const int8x16_t x = vld1q_s8(activations + 4 * j);
      sum = vdotq_laneq_s32(sum, as_signed<Max, Offset>(weights[j]), x, 0);
      sum = vdotq_laneq_s32(sum, as_signed<Max, Offset>(weights[j + 1]), x, 1);
      sum = vdotq_laneq_s32(sum, as_signed<Max, Offset>(weights[j + 2]), x, 2);
      sum = vdotq_laneq_s32(sum, as_signed<Max, Offset>(weights[j + 3]), x, 3);
    }
    return sum;
  }

  static Pairs load_pairs(const uint32_t* p) { return vld1q_u32(p); }
  // bfdot rounds otherwise.
  static Floats pair_dot(Pairs x, uint32_t pair, Floats sum) {
    const Pairs q = vdupq_n_u32(pair);
    return fma(even_of(x), even_of(q), fma(odd_of(x), odd_of(q), sum));
  }
  static Floats odd_of(Pairs x) { return vreinterpretq_f32_u32(vandq_u32(x, vdupq_n_u32(0xffff0000u))); }
  static Floats even_of(Pairs x) { return vreinterpretq_f32_u32(vshlq_n_u32(x, 16)); }

  static float largest_magnitude(const float* x) {
    const uint32x4_t mask = vdupq_n_u32(0x7fffffff);
    uint32x4_t largest = vdupq_n_u32(0);
    for (int i = 0; i < kBlockColumns; i += 4)
      largest = vmaxq_u32(largest, vandq_u32(vreinterpretq_u32_f32(load(x + i)), mask));
    return vgetq_lane_f32(vreinterpretq_f32_u32(vdupq_n_u32(vmaxvq_u32(largest))), 0);
  }
  static void to_levels(const float* x, float inverse, ActivationBlock& out) {
    for (int half = 0; half < 2; ++half) {
      Ints q[4];
      for (int i = 0; i < 4; ++i) q[i] = vcvtnq_s32_f32(mul(load(x + 16 * half + 4 * i), set(inverse)));
      const int16x8_t low = vcombine_s16(vqmovn_s32(q[0]), vqmovn_s32(q[1]));
      const int16x8_t high = vcombine_s16(vqmovn_s32(q[2]), vqmovn_s32(q[3]));
      vst1q_s8(out.levels + 16 * half, vcombine_s8(vqmovn_s16(low), vqmovn_s16(high)));
      out.minus128[half] = -128 * vaddvq_s32(vaddq_s32(vaddq_s32(q[0], q[1]), vaddq_s32(q[2], q[3])));
    }
  }

 protected:
  template <int Max, int Offset>
  static int8x16_t as_signed(Quads levels) {
    static_assert(Max <= 127 || Offset == 128);
    if constexpr (Max > 127) levels = veorq_u8(levels, vdupq_n_u8(0x80));
    return vreinterpretq_s8_u8(levels);
  }
  // What the offset takes away, where the top bit has not done so.
  template <int N, int Max, int Offset>
  static Ints start_of_sum(const int32_t* minus128) {
    if constexpr (Offset == 0 || Max > 127) {
      return vdupq_n_s32(0);
    } else {
      const int32_t start = N == 8 ? minus128[0] + minus128[1] : minus128[0];
      return vdupq_n_s32(start >> (7 - __builtin_ctz(Offset)));
    }
  }

 private:
  static uint8x8_t four_bytes(const uint8_t* p) {
    uint32_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return vreinterpret_u8_u32(vdup_n_u32(bytes));
  }
  static uint32x4_t widen(uint8x8_t bytes) { return vmovl_u16(vget_low_u16(vmovl_u8(bytes))); }
};

struct NeonDotprodLeaf : NeonLeaf<NeonDotprodLeaf> {};

}  // namespace tempo9::backend::cpu
