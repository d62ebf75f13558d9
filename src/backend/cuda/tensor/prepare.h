// How a linear operation's input becomes f16 (layout.h: the contract): eight threads have a stage of a row,
// each of them every eighth pair of its columns.
#pragma once
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/layout.h"
#include "backend/cuda/tensor/mma.h"
#include "backend/gpu/dialect/cuda.h"
#include "backend/gpu/kernels/args.h"
#include "backend/gpu/kernels/math.h"

namespace tempo9::backend::cuda {

__device__ __forceinline__ float fast_power(float x) {  // e^x
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}
__device__ __forceinline__ float fast_quotient(float x, float y) {  // 0 for y of 2^126 and more
  return __fdividef(x, y);
}

// Out of line: code that is seldom run would have to be fetched past.
static __device__ __noinline__ float activate_otherwise(uint32_t activation, float gate, float x) {
  return gpu::activate_gated(activation, gate, x);
}

// gpu::activate_gated by approximations, whose error is far below the rounding to f16 that follows.
__device__ __forceinline__ float activate_fast(uint32_t activation, float gate, float x) {
  if (activation != gpu::ACTIVATION_SILU && activation != gpu::ACTIVATION_SIGMOID)
    return activate_otherwise(activation, gate, x);
  return fast_quotient(activation == gpu::ACTIVATION_SILU ? gate * x : x, 1.0f + fast_power(-gate));
}

// What a thread has of a stage, before and after preparing: x, and the norm's weights or the gate.
struct InputPairs {
  float2 x[4], other[4];

  __device__ __forceinline__ void load(const InputArgs& a, uint32_t row, uint32_t stage, uint32_t eighth) {
    const uint32_t first = stage * (kStageColumns / 2) + eighth;
    const float* from = a.x + size_t(row) * a.x_stride;
    const float* with =
        a.prepare == gpu::PREPARE_GATED ? a.gate + size_t(row) * a.gate_stride : a.norm_weight;
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = reinterpret_cast<const float2*>(from)[first + 8 * j];
    if (a.prepare == gpu::PREPARE_AS_IS) return;
#pragma unroll
    for (int j = 0; j < 4; ++j) other[j] = reinterpret_cast<const float2*>(with)[first + 8 * j];
  }
};

// Pairs as the operation prepares them, but for the factor of a norm, whose sum of squares is added to.
// `gated`: whether the operation may have gates.
template <bool gated>
struct PreparedPairs {
  float2 v[4];

  __device__ __forceinline__ void make(const InputArgs& a, const InputPairs& in, float& squares,
                                       float& largest) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 x = in.x[j], other = in.other[j];
      v[j] = x;
      if (a.prepare == gpu::PREPARE_RMS_NORM) {
        squares = gpu::fused(x.y, x.y, gpu::fused(x.x, x.x, squares));
        v[j] = make_float2(x.x * other.x, x.y * other.y);
      } else if (gated && a.prepare == gpu::PREPARE_GATED) {
        v[j] =
            make_float2(activate_fast(a.activation, other.x, x.x), activate_fast(a.activation, other.y, x.y));
      }
      largest = fmaxf(largest, fmaxf(fabsf(v[j].x), fabsf(v[j].y)));
    }
  }
  __device__ __forceinline__ uint4 as_halves(float scale) const {
    return make_uint4(to_half2(v[0].x * scale, v[0].y * scale), to_half2(v[1].x * scale, v[1].y * scale),
                      to_half2(v[2].x * scale, v[2].y * scale), to_half2(v[3].x * scale, v[3].y * scale));
  }
};

// What the threads of a row's part have found together.
struct PartFactors {
  float largest, squares;
};

// A row's stages from `begin` to `end`, by `threads` threads (thirty-two times a power of two). `join` brings
// their PartFactors together; put(stage, eighth, pairs) takes what each makes. What does not fit into
// registers is made again. Returns what join did. One loop, because code that is run once takes as long to
// fetch.
template <bool gated, class Join, class Put>
__device__ __forceinline__ PartFactors prepare_part(const InputArgs& a, uint32_t row, uint32_t begin,
                                                    uint32_t end, uint32_t thread, uint32_t threads,
                                                    const Join& join, const Put& put) {
  constexpr int kept = 2;
  const uint32_t first = begin + thread / 8, eighth = thread % 8, step = threads / 8;
  const bool again = first + kept * step < end;
  PartFactors found = {}, factors = {};
  float scale = 1.0f;
  PreparedPairs<gated> values[kept];
#pragma unroll 1
  for (int pass = 0; pass < 2; ++pass) {
#pragma unroll 1
    for (uint32_t from = first; from < end; from += kept * step) {
      if (pass == 0 || again) {
        InputPairs loaded[kept] = {};
#pragma unroll
        for (int i = 0; i < kept; ++i)
          if (from + i * step < end) loaded[i].load(a, row, from + i * step, eighth);
#pragma unroll
        for (int i = 0; i < kept; ++i) values[i].make(a, loaded[i], found.squares, found.largest);
      }
      if (pass == 0) continue;
#pragma unroll
      for (int i = 0; i < kept; ++i)
        if (from + i * step < end) put(from + i * step, eighth, values[i].as_halves(scale));
    }
    if (pass == 0) {
      factors = join(found);
      scale = row_scale(factors.largest);
    }
  }
  return factors;
}

// Pairs of a thread to where a row's lie one after the other.
__device__ __forceinline__ void put_in_row(uint32_t* row, uint32_t stage, uint32_t eighth, uint4 pairs) {
  uint32_t* place = row + stage * (kStageColumns / 2) + eighth;
  place[0] = pairs.x, place[8] = pairs.y, place[16] = pairs.z, place[24] = pairs.w;
}

__device__ __forceinline__ PartFactors join_warp(PartFactors f) {
  return {gpu::simd_largest(f.largest), gpu::simd_total(f.squares)};
}

// Of a norm, from the sums of squares of a row's parts, `apart` floats from each other; else 1.
__device__ __forceinline__ float norm_of(const InputArgs& a, const float* squares, uint32_t apart) {
  if (a.prepare != gpu::PREPARE_RMS_NORM) return 1.0f;
  float total = 0.0f;
#pragma unroll
  for (int p = 0; p < kParts; ++p) total += squares[p * apart];
  return 1.0f / gpu::root(total / float(a.columns) + a.epsilon);
}

}  // namespace tempo9::backend::cuda
