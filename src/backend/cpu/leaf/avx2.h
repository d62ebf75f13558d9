// AVX2 with FMA and F16C: 8 lanes. The words are explained in scalar.h. Products of bytes go through int16
// pairs; as many are added there as cannot overflow.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "backend/cpu/activation.h"

namespace tempo9::backend::cpu {

struct Avx2Leaf {
  static constexpr int kLanes = 8, kTileRows = 4, kRegisters = 16;
  static constexpr bool kDotsPairs = false;
  using Floats = __m256;
  using Ints = __m256i;
  using Quads = __m256i;
  using Pairs = __m256i;

  static Ints ints(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static __m128i ints128(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
  static __m128i ints64(const void* p) { return _mm_loadl_epi64(static_cast<const __m128i*>(p)); }

  static Floats zero() { return _mm256_setzero_ps(); }
  static Floats set(float x) { return _mm256_set1_ps(x); }
  static Floats load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Floats x) { _mm256_storeu_ps(p, x); }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats sub(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats div(Floats a, Floats b) { return _mm256_div_ps(a, b); }
  static Floats max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats if_negative(Floats x, Floats a, Floats b) { return _mm256_blendv_ps(b, a, x); }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats round(Floats x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Floats power_of_two(Floats x) {
    const Ints exponent = _mm256_add_epi32(_mm256_cvtps_epi32(x), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
  }
  static Floats to_floats(Ints x) { return _mm256_cvtepi32_ps(x); }

  static float sum_of_lanes(Floats x) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static float largest_lane(Floats x) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
  }

  static Floats load_half(const uint16_t* p) { return _mm256_cvtph_ps(ints128(p)); }
  static Floats load_bfloat(const uint16_t* p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(ints128(p)), 16));
  }
  static void store_half(uint16_t* p, Floats x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }

  static Floats unsigned_bytes(const uint8_t* p) { return to_floats(_mm256_cvtepu8_epi32(ints64(p))); }
  static Floats signed_bytes(const int8_t* p) { return to_floats(_mm256_cvtepi8_epi32(ints64(p))); }
  static Floats low_nibbles(const uint8_t* p) {
    return to_floats(_mm256_and_si256(_mm256_cvtepu8_epi32(ints64(p)), _mm256_set1_epi32(15)));
  }
  static Floats high_nibbles(const uint8_t* p) {
    return to_floats(_mm256_srli_epi32(_mm256_cvtepu8_epi32(ints64(p)), 4));
  }

  static Quads load_quads(const uint8_t* p) { return ints(p); }
  template <int Right>
  static Quads bits(Quads x, uint8_t mask) {
    if constexpr (Right > 0) x = _mm256_srli_epi32(x, Right);
    if constexpr (Right < 0) x = _mm256_slli_epi32(x, -Right);
    return _mm256_and_si256(x, _mm256_set1_epi8(static_cast<char>(mask)));
  }
  static Quads merge(Quads a, Quads b) { return _mm256_or_si256(a, b); }
  static Quads look_up(const uint8_t* table, Quads x) {
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(ints128(table)), x);
  }

  // Four activations in each lane.
  static Ints broadcast_quad(const int8_t* p) {
    int32_t quad;
    std::memcpy(&quad, p, sizeof quad);
    return _mm256_set1_epi32(quad);
  }

  template <int N, int Max, int Offset>
  static Ints dot(const Quads* weights, const int8_t* activations, const int32_t* minus128) {
    // Full bytes: |w| times the activation with w's sign, as both operands cannot be signed.
    constexpr bool kFullBytes = Max * 127 * 2 > 32767;
    static_assert(!kFullBytes || Offset == 128);
    constexpr int kFit = kFullBytes ? 1 : 32767 / (Max * 127 * 2);
    constexpr int kTogether = kFit < N ? kFit : N;
    Ints sum = _mm256_setzero_si256();
    if constexpr (Offset != 0 && !kFullBytes) {
      const int32_t start = N == 8 ? minus128[0] + minus128[1] : minus128[0];
      sum = _mm256_set1_epi32(start >> (7 - __builtin_ctz(Offset)));
    }
    for (int j = 0; j < N; j += kTogether) {
      Ints pairs = _mm256_setzero_si256();
      for (int t = j; t < j + kTogether && t < N; ++t) {
        const Ints quad = broadcast_quad(activations + 4 * t);
        Ints product;
        if constexpr (kFullBytes) {
          const Ints w = _mm256_xor_si256(weights[t], _mm256_set1_epi8(static_cast<char>(0x80)));
          product = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(quad, w));
        } else {
          product = _mm256_maddubs_epi16(weights[t], quad);
        }
        pairs = t == j ? product : _mm256_add_epi16(pairs, product);
      }
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
    return sum;
  }

  // dot() of N quads of full bytes for several rows of activations. Each weight meets all rows while it is in
  // a register: with its magnitude and its sign there are too few of those to keep eight.
  template <int N, int Rows>
  [[gnu::always_inline]] static void full_dots(const Quads* weights, const std::byte* levels, size_t stride,
                                               Ints* sum) {
#pragma GCC unroll 8
    for (int t = 0; t < N; ++t) {
      const Ints w = _mm256_xor_si256(weights[t], _mm256_set1_epi8(static_cast<char>(0x80)));
      const Ints magnitude = _mm256_abs_epi8(w);
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
        const Ints quad = broadcast_quad(reinterpret_cast<const int8_t*>(levels + r * stride) + 4 * t);
        const Ints pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(quad, w));
        const Ints part = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
        sum[r] = t == 0 ? part : _mm256_add_epi32(sum[r], part);
      }
    }
  }

  static Pairs load_pairs(const uint32_t* p) {
    return ints(p);
  }
  static Floats pair_dot(Pairs x, uint32_t pair, Floats sum) {
    const Pairs q = _mm256_set1_epi32(static_cast<int32_t>(pair));
    return fma(even_of(x), even_of(q), fma(odd_of(x), odd_of(q), sum));
  }
  static Floats odd_of(Pairs x) {
    return _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32(static_cast<int32_t>(0xffff0000))));
  }
  static Floats even_of(Pairs x) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(x, 16));
  }

  static float largest_magnitude(const float* x) {
    const Ints mask = _mm256_set1_epi32(0x7fffffff);
    Ints largest = _mm256_and_si256(ints(x), mask);
    for (int i = 8; i < kBlockColumns; i += 8)
      largest = _mm256_max_epi32(largest, _mm256_and_si256(ints(x + i), mask));
    __m128i m = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1));
    return _mm_cvtss_f32(_mm_castsi128_ps(m));
  }
  static void to_levels(const float* x, float inverse, ActivationBlock& out) {
    Ints q[4];
    for (int i = 0; i < 4; ++i) q[i] = _mm256_cvtps_epi32(mul(load(x + 8 * i), set(inverse)));
    // Packing works within 128-bit halves; the permutation puts the groups of four back in order.
    const Ints packed = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
    const Ints levels = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.levels), levels);
    const Ints biased = _mm256_xor_si256(levels, _mm256_set1_epi8(static_cast<char>(0x80)));
    const Ints sums = _mm256_sad_epu8(biased, _mm256_setzero_si256());  // of eight levels + 128
    for (int half = 0; half < 2; ++half) {
      const __m128i s = half == 0 ? _mm256_castsi256_si128(sums) : _mm256_extracti128_si256(sums, 1);
      out.minus128[half] = -128 * (_mm_extract_epi32(s, 0) + _mm_extract_epi32(s, 2) - 16 * 128);
    }
  }
};

}  // namespace tempo9::backend::cpu
