// Rows of a linear operation's input, prepared, as tensor cores read them.
#pragma once
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/follow.h"
#include "backend/cuda/tensor/mma.h"
#include "backend/gpu/dialect/cuda.h"
#include "backend/gpu/kernels/args.h"
#include "backend/gpu/kernels/math.h"

namespace tempo9::backend::cuda {

struct PanelScratch {
  float squares[kPanelThreads / 32], largest[kPanelThreads / 32];
};

__device__ __forceinline__ float2 load_pair(const float* row, uint32_t pair) {
  return reinterpret_cast<const float2*>(row)[pair];
}

// A pair of columns: of x, and what goes with it: the norm's weights or the gate.
struct InputPair {
  float2 x, other;
};
__device__ __forceinline__ InputPair load_input(const PanelArgs& a, uint32_t row, uint32_t pair) {
  InputPair p = {load_pair(a.x + size_t(row) * a.x_stride, pair), {}};
  if (a.prepare == gpu::PREPARE_RMS_NORM) p.other = load_pair(a.norm_weight, pair);
  if (a.prepare == gpu::PREPARE_GATED) p.other = load_pair(a.gate + size_t(row) * a.gate_stride, pair);
  return p;
}

// As the operation prepares it, but for the factor of a norm, to whose sum it is added.
__device__ __forceinline__ float2 prepare_pair(const PanelArgs& a, InputPair p, float& squares) {
  if (a.prepare == gpu::PREPARE_RMS_NORM) {
    squares = gpu::fused(p.x.y, p.x.y, gpu::fused(p.x.x, p.x.x, squares));
    return make_float2(p.x.x * p.other.x, p.x.y * p.other.y);
  }
  if (a.prepare == gpu::PREPARE_GATED)
    return make_float2(gpu::activate_gated(a.activation, p.other.x, p.x.x),
                       gpu::activate_gated(a.activation, p.other.y, p.x.y));
  return p.x;
}

// Brings what the threads have together; the sum in the order of SIMD groups.
__device__ __forceinline__ void join(PanelScratch& s, float& squares, float& largest) {
  squares = gpu::simd_total(squares);
  largest = gpu::simd_largest(largest);
  if (threadIdx.x % 32 == 0) {
    s.squares[threadIdx.x / 32] = squares;
    s.largest[threadIdx.x / 32] = largest;
  }
  __syncthreads();
  squares = 0.0f, largest = 0.0f;
#pragma unroll
  for (uint32_t i = 0; i < kPanelThreads / 32; ++i) {
    squares += s.squares[i];
    largest = fmaxf(largest, s.largest[i]);
  }
}

__device__ __forceinline__ void put_pair(const PanelArgs& a, uint32_t row, uint32_t pair, float2 v,
                                         float factor, float scale) {
  const uint32_t within = pair % 32, lane = within / 8, half_step = within % 8;
  const size_t place =
      a.panels != 0 ? (size_t(pair / 32) * a.tiles + row / 8) * 256 + half_step * 32 + row % 8 * 4 + lane
                    : size_t(row) * (a.columns / 2) + pair;
  a.out[place] = to_half2(v.x * factor * scale, v.y * factor * scale);
}

// grid: x = row
__global__ void __launch_bounds__(kPanelThreads) make_panels(const __grid_constant__ PanelArgs a) {
  constexpr uint32_t kept = 12;  // pairs of a thread, in registers; more are made again
  __shared__ PanelScratch s;
  start_next_kernel();
  wait_for_earlier_kernels();
  const uint32_t row = blockIdx.x, pairs = a.columns / 2;
  float squares = 0.0f, largest = 0.0f;
  float2 values[kept];
#pragma unroll
  for (uint32_t half = 0; half < kept; half += kept / 2) {
    InputPair loaded[kept / 2];
#pragma unroll
    for (uint32_t i = 0; i < kept / 2; ++i) {
      const uint32_t pair = threadIdx.x + (half + i) * kPanelThreads;
      loaded[i] = pair < pairs ? load_input(a, row, pair) : InputPair{};
    }
#pragma unroll
    for (uint32_t i = 0; i < kept / 2; ++i) {
      float2& v = values[half + i];
      v = make_float2(0.0f, 0.0f);
      if (threadIdx.x + (half + i) * kPanelThreads < pairs) v = prepare_pair(a, loaded[i], squares);
      largest = fmaxf(largest, fmaxf(fabsf(v.x), fabsf(v.y)));
    }
  }
  for (uint32_t pair = threadIdx.x + kept * kPanelThreads; pair < pairs; pair += kPanelThreads) {
    const float2 v = prepare_pair(a, load_input(a, row, pair), squares);
    largest = fmaxf(largest, fmaxf(fabsf(v.x), fabsf(v.y)));
  }
  join(s, squares, largest);
  const bool norm = a.prepare == gpu::PREPARE_RMS_NORM;
  const float factor = norm ? 1.0f / gpu::root(squares / float(a.columns) + a.epsilon) : 1.0f;
  const float scale = row_scale(largest * factor);
  if (threadIdx.x == 0) a.row_factors[row] = 1.0f / scale;
#pragma unroll
  for (uint32_t i = 0; i < kept; ++i) {
    const uint32_t pair = threadIdx.x + i * kPanelThreads;
    if (pair < pairs) put_pair(a, row, pair, values[i], factor, scale);
  }
  for (uint32_t pair = threadIdx.x + kept * kPanelThreads; pair < pairs; pair += kPanelThreads)
    put_pair(a, row, pair, prepare_pair(a, load_input(a, row, pair), squares), factor, scale);
}

}  // namespace tempo9::backend::cuda
