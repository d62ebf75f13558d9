// The two loops over layouts: for few rows, a warp has a part of the columns of sixteen outputs; for many, it
// has all parts of 32 outputs. The bits are the same (layout.h: the contract).
#pragma once
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/stages.h"

namespace tempo9::backend::cuda {

constexpr int kAhead = 4;  // stages asked for before they are used

__device__ __forceinline__ void start_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ __forceinline__ void wait_for_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ uint32_t slot_of(const TensorArgs& a, uint32_t place) {
  return a.lists != nullptr ? uint32_t(a.lists[a.matrices + 1 + place]) : place;
}

// A lane's rows in the panels: one of each tile of eight.
template <int tiles>
struct Panels {
  const uint4* place[tiles];
  uint32_t stride;  // from a stage to the next

  __device__ __forceinline__ Panels(const TensorArgs& a, uint32_t first, uint32_t count, uint32_t lane)
      : stride(a.tiles * 64) {
#pragma unroll
    for (int i = 0; i < tiles; ++i) {
      const uint32_t r = 8 * i + lane / 4;
      place[i] = nullptr;
      if (r >= count) continue;
      const uint32_t row = slot_of(a, first + r) / a.slots_per_input;
      place[i] = reinterpret_cast<const uint4*>(a.panels) + row / 8 * 64 + row % 8 * 4 + lane % 4;
    }
  }
  // Of two steps. Zeros for a row that is not there.
  __device__ __forceinline__ uint4 load(int tile, uint32_t stage, int half) const {
    if (place[tile] == nullptr) return make_uint4(0, 0, 0, 0);
    return __ldg(place[tile] + size_t(stage) * stride + 32 * half);
  }
};

// Two steps of a stage with every tile.
template <int half, int tiles, class Loaded>
__device__ __forceinline__ void multiply_half(const Loaded& w, const uint4 (&x)[tiles],
                                              float (&sums)[tiles][4]) {
  uint32_t a[4];
  w.template fragment<2 * half>(a);
#pragma unroll
  for (int i = 0; i < tiles; ++i) multiply(sums[i], a, x[i].x, x[i].y);
  w.template fragment<2 * half + 1>(a);
#pragma unroll
  for (int i = 0; i < tiles; ++i) multiply(sums[i], a, x[i].z, x[i].w);
}

__device__ __forceinline__ void write_output(const TensorArgs& a, uint32_t matrix, uint32_t output,
                                             uint32_t place, float sum) {
  if (output >= a.outputs) return;
  const uint32_t slot = slot_of(a, place);
  float y = sum * (a.weight_factor * a.row_factors[slot / a.slots_per_input]);
  if (a.bias != nullptr) y += a.bias[size_t(matrix) * a.bias_stride + output];
  float* out = a.out + size_t(slot) * a.out_stride + output;
  *out = a.add != 0 ? *out + y : y;
}

// grid: x = sixteen outputs, y = tiles * 8 rows, or a matrix of a stack
template <TensorLayout layout, int tiles>
__global__ void __launch_bounds__(kTensorThreads) linear_few(const __grid_constant__ TensorArgs a) {
  __shared__ float parts[kParts][kStageRows][8 * tiles + 1];
  const uint32_t lane = threadIdx.x % 32, part = threadIdx.x / 32;
  const uint32_t matrix = a.lists != nullptr ? blockIdx.y : 0;
  const uint8_t* stages =
      a.weight + matrix * a.matrix_bytes + size_t(blockIdx.x) * a.stages * stage_bytes(layout);
  const uint32_t begin = part_begin(part, a.stages), end = part_begin(part + 1, a.stages);
  start_next_kernel();
  Stage<layout> ahead[kAhead];
  if (a.lists == nullptr) {  // weights do not depend on what came before; which of a stack are used does
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      if (begin + i < end) ahead[i].load(stages + size_t(begin + i) * stage_bytes(layout), lane);
  }
  wait_for_earlier_kernels();
  uint32_t first = blockIdx.y * 8 * tiles, last = min(first + 8 * tiles, a.rows);
  if (a.lists != nullptr) first = a.lists[matrix], last = a.lists[matrix + 1];
  for (; first < last; first += 8 * tiles) {
    const uint32_t count = min(last - first, uint32_t(8 * tiles));
    const Panels<tiles> panels(a, first, count, lane);
    float sums[tiles][4] = {};
    if (a.lists != nullptr) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i)
        if (begin + i < end) ahead[i].load(stages + size_t(begin + i) * stage_bytes(layout), lane);
    }
    for (uint32_t stage = begin; stage < end; stage += kAhead) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (stage + i >= end) break;
        uint4 x[2][tiles];
#pragma unroll
        for (int t = 0; t < tiles; ++t)
          x[0][t] = panels.load(t, stage + i, 0), x[1][t] = panels.load(t, stage + i, 1);
        multiply_half<0>(ahead[i], x[0], sums);
        multiply_half<1>(ahead[i], x[1], sums);
        if (stage + i + kAhead < end)
          ahead[i].load(stages + size_t(stage + i + kAhead) * stage_bytes(layout), lane);
      }
    }
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        parts[part][lane / 4 + 8 * (e / 2)][8 * t + 2 * (lane % 4) + e % 2] = sums[t][e];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < kStageRows * count; i += kTensorThreads) {
      float sum = 0.0f;
#pragma unroll
      for (int p = 0; p < kParts; ++p) sum += parts[p][i % kStageRows][i / kStageRows];
      write_output(a, matrix, blockIdx.x * kStageRows + i % kStageRows, first + i / kStageRows, sum);
    }
    __syncthreads();
  }
}

// Thirty-two outputs of a warp through one part.
template <TensorLayout layout, int tiles>
__device__ __forceinline__ void multiply_part(const uint8_t* stages, const uint8_t* next_stages,
                                              const Panels<tiles>& panels, uint32_t begin, uint32_t end,
                                              uint32_t lane, float (&sums)[2][tiles][4]) {
  for (uint32_t stage = begin; stage < end; ++stage) {
    Stage<layout> w[2];
    w[0].load(stages + size_t(stage) * stage_bytes(layout), lane);
    w[1].load(next_stages + size_t(stage) * stage_bytes(layout), lane);
    uint4 x[tiles];
#pragma unroll
    for (int t = 0; t < tiles; ++t) x[t] = panels.load(t, stage, 0);
    multiply_half<0>(w[0], x, sums[0]);
    multiply_half<0>(w[1], x, sums[1]);
#pragma unroll
    for (int t = 0; t < tiles; ++t) x[t] = panels.load(t, stage, 1);
    multiply_half<1>(w[0], x, sums[0]);
    multiply_half<1>(w[1], x, sums[1]);
  }
}

// grid: x = kManyOutputs outputs, y = tiles * 8 rows, or a matrix of a stack
template <TensorLayout layout, int tiles>
__global__ void __launch_bounds__(kTensorThreads, 1) linear_many(const __grid_constant__ TensorArgs a) {
  const uint32_t lane = threadIdx.x % 32, groups = (a.outputs + kStageRows - 1) / kStageRows;
  const uint32_t group = (blockIdx.x * (kTensorThreads / 32) + threadIdx.x / 32) * 2;
  const uint32_t matrix = a.lists != nullptr ? blockIdx.y : 0;
  start_next_kernel();
  wait_for_earlier_kernels();
  if (group >= groups) return;
  const size_t group_bytes = size_t(a.stages) * stage_bytes(layout);
  const uint8_t* stages = a.weight + matrix * a.matrix_bytes + group * group_bytes;
  const uint8_t* next_stages = group + 1 < groups ? stages + group_bytes : stages;
  uint32_t first = blockIdx.y * 8 * tiles, last = min(first + 8 * tiles, a.rows);
  if (a.lists != nullptr) first = a.lists[matrix], last = a.lists[matrix + 1];
  for (; first < last; first += 8 * tiles) {
    const uint32_t count = min(last - first, uint32_t(8 * tiles));
    const Panels<tiles> panels(a, first, count, lane);
    float totals[2][tiles][4] = {};
    for (int part = 0; part < kParts; ++part) {
      float sums[2][tiles][4] = {};
      multiply_part<layout>(stages, next_stages, panels, part_begin(part, a.stages),
                            part_begin(part + 1, a.stages), lane, sums);
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int t = 0; t < tiles; ++t)
#pragma unroll
          for (int e = 0; e < 4; ++e) totals[n][t][e] += sums[n][t][e];
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      if (group + n >= groups) break;
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const uint32_t r = 8 * t + 2 * (lane % 4) + e % 2;
          if (r < count)
            write_output(a, matrix, (group + n) * kStageRows + lane / 4 + 8 * (e / 2), first + r,
                         totals[n][t][e]);
        }
    }
  }
}

}  // namespace tempo9::backend::cuda
