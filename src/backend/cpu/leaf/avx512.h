// AVX-512 (F, BW, VL, DQ) with VNNI: 16 lanes, one instruction for nearly every word. The words are explained
// in scalar.h.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "backend/cpu/activation.h"

namespace tempo9::backend::cpu {

struct Avx512Leaf {
  static constexpr int kLanes = 16, kTileRows = 8, kRegisters = 32;
  static constexpr bool kDotsPairs = false;
  using Floats = __m512;
  using Ints = __m512i;
  using Quads = __m512i;
  using Pairs = __m512i;

  static __m256i ints256(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static __m128i ints128(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

  static Floats zero() { return _mm512_setzero_ps(); }
  static Floats set(float x) { return _mm512_set1_ps(x); }
  static Floats load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Floats x) { _mm512_storeu_ps(p, x); }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats div(Floats a, Floats b) { return _mm512_div_ps(a, b); }
  static Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats if_negative(Floats x, Floats a, Floats b) {
    return _mm512_mask_blend_ps(_mm512_movepi32_mask(_mm512_castps_si512(x)), b, a);
  }
  static Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats round(Floats x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT); }
  static Floats power_of_two(Floats x) {
    const Ints exponent = _mm512_add_epi32(_mm512_cvtps_epi32(x), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23));
  }
  static Floats to_floats(Ints x) { return _mm512_cvtepi32_ps(x); }

  static float sum_of_lanes(Floats x) {
    const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static float largest_lane(Floats x) {
    const __m256 h = _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
  }

  static Floats load_half(const uint16_t* p) { return _mm512_cvtph_ps(ints256(p)); }
  static Floats load_bfloat(const uint16_t* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(ints256(p)), 16));
  }
  static void store_half(uint16_t* p, Floats x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }

  static Floats unsigned_bytes(const uint8_t* p) { return to_floats(_mm512_cvtepu8_epi32(ints128(p))); }
  static Floats signed_bytes(const int8_t* p) { return to_floats(_mm512_cvtepi8_epi32(ints128(p))); }
  static Floats low_nibbles(const uint8_t* p) {
    return to_floats(_mm512_and_si512(_mm512_cvtepu8_epi32(ints128(p)), _mm512_set1_epi32(15)));
  }
  static Floats high_nibbles(const uint8_t* p) {
    return to_floats(_mm512_srli_epi32(_mm512_cvtepu8_epi32(ints128(p)), 4));
  }

  static Quads load_quads(const uint8_t* p) { return _mm512_loadu_si512(p); }
  template <int Right>
  static Quads bits(Quads x, uint8_t mask) {
    if constexpr (Right > 0) x = _mm512_srli_epi32(x, Right);
    if constexpr (Right < 0) x = _mm512_slli_epi32(x, -Right);
    return _mm512_and_si512(x, _mm512_set1_epi8(static_cast<char>(mask)));
  }
  static Quads merge(Quads a, Quads b) { return _mm512_or_si512(a, b); }
  static Quads look_up(const uint8_t* table, Quads x) {
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(ints128(table)), x);
  }

  template <int N, int Max, int Offset>
  static Ints dot(const Quads* weights, const int8_t* activations, const int32_t* minus128) {
    Ints sum[N / 4];
    for (int half = 0; half < N / 4; ++half) {
      sum[half] = _mm512_setzero_si512();
      if constexpr (Offset != 0)
        sum[half] = _mm512_srai_epi32(_mm512_set1_epi32(minus128[half]), 7 - __builtin_ctz(Offset));
    }
    for (int j = 0; j < N; ++j) {
      int32_t quad;
      std::memcpy(&quad, activations + 4 * j, sizeof quad);
      Ints& s = sum[Offset == 0 ? 0 : j / 4];
      s = _mm512_dpbusd_epi32(s, weights[j], _mm512_set1_epi32(quad));
    }
    if constexpr (N == 8 && Offset != 0) sum[0] = _mm512_add_epi32(sum[0], sum[1]);
    return sum[0];
  }

  static Pairs load_pairs(const uint32_t* p) { return _mm512_loadu_si512(p); }
  static Floats pair_dot(Pairs x, uint32_t pair, Floats sum) {
    const Pairs q = _mm512_set1_epi32(static_cast<int32_t>(pair));
    return fma(even_of(x), even_of(q), fma(odd_of(x), odd_of(q), sum));
  }
  static Floats odd_of(Pairs x) {
    return _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32(static_cast<int32_t>(0xffff0000))));
  }
  static Floats even_of(Pairs x) { return _mm512_castsi512_ps(_mm512_slli_epi32(x, 16)); }

  static float largest_magnitude(const float* x) {
    const Ints mask = _mm512_set1_epi32(0x7fffffff);
    const Ints largest = _mm512_max_epi32(_mm512_and_si512(_mm512_loadu_si512(x), mask),
                                          _mm512_and_si512(_mm512_loadu_si512(x + 16), mask));
    return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(largest))));
  }
  static void to_levels(const float* x, float inverse, ActivationBlock& out) {
    for (int half = 0; half < 2; ++half) {
      const Ints q = _mm512_cvtps_epi32(mul(load(x + 16 * half), set(inverse)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out.levels + 16 * half), _mm512_cvtsepi32_epi8(q));
      out.minus128[half] = -128 * _mm512_reduce_add_epi32(q);
    }
  }
};

}  // namespace tempo9::backend::cpu
