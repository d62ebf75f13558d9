// Rows of a linear operation's input, prepared, as tensor cores read them.
#pragma once
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/mma.h"
#include "backend/gpu/dialect/cuda.h"
#include "backend/gpu/kernels/args.h"
#include "backend/gpu/kernels/math.h"

namespace tempo9::backend::cuda {

struct PanelScratch {
  float parts[4], largest[4];
};

__device__ __forceinline__ float prepared_value(const PanelArgs& a, uint32_t row, uint32_t k,
                                                float norm_factor) {
  const float x = a.x[size_t(row) * a.x_stride + k];
  if (a.prepare == gpu::PREPARE_RMS_NORM) return x * norm_factor * a.norm_weight[k];
  if (a.prepare == gpu::PREPARE_GATED)
    return gpu::activate_gated(a.activation, a.gate[size_t(row) * a.gate_stride + k], x);
  return x;
}

// The power of two that brings `largest` to [2^14, 2^15), or near to that.
__device__ __forceinline__ float row_scale(float largest) {
  if (!(largest > 0.0f)) return 1.0f;
  const int exponent = 14 - (int(__float_as_uint(largest) >> 23) - 127);
  return __uint_as_float(uint32_t(min(max(exponent, -100), 100) + 127) << 23);
}

// grid: x = row
__global__ void __launch_bounds__(kPanelThreads) make_panels(const __grid_constant__ PanelArgs a) {
  __shared__ PanelScratch s;
  gpu::follow_earlier_kernels();
  const gpu::Ctx c = {threadIdx.x, threadIdx.x % 32, threadIdx.x / 32, blockIdx.x, 0};
  const uint32_t row = blockIdx.x, lane = 4 * (row % 8);
  float factor = 1.0f, largest = 0.0f;
  if (a.prepare == gpu::PREPARE_RMS_NORM)
    factor = gpu::norm_factor(c, s.parts, a.x + size_t(row) * a.x_stride, a.columns, a.epsilon);
  for (uint32_t k = c.tid; k < a.columns; k += kPanelThreads)
    largest = fmaxf(largest, fabsf(prepared_value(a, row, k, factor)));
  largest = gpu::simd_largest(largest);
  if (c.lane == 0) s.largest[c.simd] = largest;
  __syncthreads();
  const float scale = row_scale(fmaxf(fmaxf(s.largest[0], s.largest[1]), fmaxf(s.largest[2], s.largest[3])));
  if (c.tid == 0) a.row_factors[row] = 1.0f / scale;
  for (uint32_t pair = c.tid; pair < a.columns / 2; pair += kPanelThreads) {
    const uint32_t k = 2 * pair, step = k % 64 / 16, within = k % 16;
    const uint32_t place = ((k / 64 * a.tiles + row / 8) * 2 + step / 2) * 128 + (lane + within % 8 / 2) * 4 +
                           step % 2 * 2 + within / 8;
    a.panels[place] =
        to_half2(prepared_value(a, row, k, factor) * scale, prepared_value(a, row, k + 1, factor) * scale);
  }
}

}  // namespace tempo9::backend::cuda
