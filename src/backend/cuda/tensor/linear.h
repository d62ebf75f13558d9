// The two loops over layouts: for few rows, a warp has a part of the columns of sixteen outputs; for many, it
// has all parts of 32 outputs. The bits are the same (layout.h: the contract).
#pragma once
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/follow.h"
#include "backend/cuda/tensor/stages.h"

namespace tempo9::backend::cuda {

__device__ __forceinline__ uint32_t slot_of(const TensorArgs& a, uint32_t place) {
  return a.lists != nullptr ? uint32_t(a.lists[a.matrices + 1 + place]) : place;
}

// A lane's rows: one of each tile of eight.
template <int tiles>
struct Rows {
  const uint4* place[tiles];

  __device__ __forceinline__ Rows(const TensorArgs& a, uint32_t first, uint32_t count, uint32_t lane) {
#pragma unroll
    for (int i = 0; i < tiles; ++i) {
      const uint32_t r = 8 * i + lane / 4;
      place[i] = nullptr;
      if (r >= count) continue;
      const size_t row = slot_of(a, first + r) / a.slots_per_input;
      place[i] = reinterpret_cast<const uint4*>(a.rows_or_panels) + row * a.stages * 8 + lane % 4 * 2;
    }
  }
  // Of two steps. Zeros for a row that is not there.
  __device__ __forceinline__ uint4 load(int tile, uint32_t stage, int half) const {
    if (place[tile] == nullptr) return make_uint4(0, 0, 0, 0);
    return __ldg(place[tile] + stage * 8 + half);
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

__device__ __forceinline__ void write_output(const TensorArgs& a, const TensorOutput& o, uint32_t matrix,
                                             uint32_t output, uint32_t place, float sum) {
  if (output >= o.outputs) return;
  const uint32_t slot = slot_of(a, place);
  float y = sum * (o.weight_factor * a.row_factors[slot / a.slots_per_input]);
  if (o.bias != nullptr) y += o.bias[size_t(matrix) * o.bias_stride + output];
  float* out = o.out + size_t(slot) * o.out_stride + output;
  *out = o.add != 0 ? *out + y : y;
}

__device__ __forceinline__ const TensorOutput& output_of(const TensorArgs& a, uint32_t block) {
  uint32_t i = 0;
  while (i + 1 < a.count && block >= a.output[i + 1].first_block) ++i;
  return a.output[i];
}

// What a block multiplies: a matrix with the rows at these places.
struct BlockWork {
  uint32_t matrix, first, last;
};
__device__ __forceinline__ bool of_stack(const TensorArgs& a) {
  return a.lists != nullptr || a.indices != nullptr;
}
__device__ __forceinline__ BlockWork work_of_block(const TensorArgs& a, uint32_t rows) {
  const uint32_t y = blockIdx.y;
  if (!of_stack(a)) return {0, y * rows, min(y * rows + rows, a.rows)};
  if (a.indices == nullptr) return {y, uint32_t(a.lists[y]), uint32_t(a.lists[y + 1])};
  if (a.lists == nullptr) {
    if (blockIdx.x + threadIdx.x == 0) atomicAdd(a.matrices_read, uint64_t(a.count));
    return {uint32_t(a.indices[y]), y, y + 1};
  }
  const uint32_t slot = slot_of(a, y);
  const uint32_t matrix = a.indices[slot / a.chosen * a.index_stride + slot % a.chosen];
  const uint32_t first = a.lists[matrix];
  return {matrix, first, first == y ? uint32_t(a.lists[matrix + 1]) : first};
}

// Stages asked for before they are used: more than memory needs to answer, as registers allow. Rows are asked
// for of fewer.
template <int tiles>
constexpr int kAhead = tiles == 1 ? 8 : tiles == 2 ? 4 : 2;
template <int tiles>
constexpr int kRowsAhead = kAhead<tiles> / 2;

// A warp's part of the columns of sixteen outputs. `ahead` holds the first stages, and at the end nothing.
template <TensorLayout layout, int tiles>
__device__ __forceinline__ void multiply_stages(const uint8_t* stages, uint32_t begin, uint32_t end,
                                                const Rows<tiles>& rows, Stage<layout> (&ahead)[kAhead<tiles>],
                                                float (&sums)[tiles][4]) {
  constexpr int count = kAhead<tiles>, together = kRowsAhead<tiles>;
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t from = begin; from < end; from += count) {
#pragma unroll
    for (int b = 0; b < count; b += together) {
      if (from + b >= end) break;
      uint4 x[together][2][tiles];
#pragma unroll
      for (int i = 0; i < together; ++i)
#pragma unroll
        for (int t = 0; t < tiles; ++t)
#pragma unroll
          for (int half = 0; half < 2; ++half)
            x[i][half][t] = rows.load(t, min(from + b + i, end - 1), half);
#pragma unroll
      for (int i = 0; i < together; ++i) {
        const uint32_t stage = from + b + i;
        if (stage >= end) break;
        multiply_half<0>(ahead[b + i], x[i][0], sums);
        multiply_half<1>(ahead[b + i], x[i][1], sums);
        if (stage + count < end)
          ahead[b + i].load(stages + size_t(stage + count) * stage_bytes(layout), lane);
      }
    }
  }
}

template <TensorLayout layout, int count>
__device__ __forceinline__ void load_first(const uint8_t* stages, uint32_t begin, uint32_t end,
                                           Stage<layout> (&ahead)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (begin + i < end) ahead[i].load(stages + size_t(begin + i) * stage_bytes(layout), threadIdx.x % 32);
}

// grid: x = sixteen outputs, y = tiles * 8 rows, or as TensorArgs says of stacks
template <TensorLayout layout, int tiles>
__global__ void __launch_bounds__(kTensorThreads, 2)
    linear_few(const __grid_constant__ TensorArgs a) {
  __shared__ float parts[kParts][kStageRows][8 * tiles + 1];
  const uint32_t lane = threadIdx.x % 32, part = threadIdx.x / 32;
  const uint32_t begin = part_begin(part, a.stages), end = part_begin(part + 1, a.stages);
  const TensorOutput& o = output_of(a, blockIdx.x);
  const uint32_t group = blockIdx.x - o.first_block;
  const uint8_t* stages = o.weight + size_t(group) * a.stages * stage_bytes(layout);
  start_next_kernel();
  Stage<layout> ahead[kAhead<tiles>];
  // Weights do not depend on what came before; which of a stack are used does.
  if (!of_stack(a)) load_first(stages, begin, end, ahead);
  wait_for_earlier_kernels();
  BlockWork work = work_of_block(a, 8 * tiles);
  stages += work.matrix * o.matrix_bytes;
  for (; work.first < work.last; work.first += 8 * tiles) {
    const uint32_t count = min(work.last - work.first, uint32_t(8 * tiles));
    const Rows<tiles> rows(a, work.first, count, lane);
    float sums[tiles][4] = {};
    if (of_stack(a)) load_first(stages, begin, end, ahead);
    multiply_stages(stages, begin, end, rows, ahead, sums);
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
      write_output(a, o, work.matrix, group * kStageRows + i % kStageRows, work.first + i / kStageRows, sum);
    }
    __syncthreads();
  }
}

// Thirty-two outputs of a warp through one part.
template <TensorLayout layout, int tiles>
__device__ __forceinline__ void multiply_part(const uint8_t* stages, const uint8_t* next_stages,
                                              const Rows<tiles>& rows, uint32_t begin, uint32_t end,
                                              uint32_t lane, float (&sums)[2][tiles][4]) {
  for (uint32_t stage = begin; stage < end; ++stage) {
    Stage<layout> w[2];
    w[0].load(stages + size_t(stage) * stage_bytes(layout), lane);
    w[1].load(next_stages + size_t(stage) * stage_bytes(layout), lane);
    uint4 x[tiles];
#pragma unroll
    for (int t = 0; t < tiles; ++t) x[t] = rows.load(t, stage, 0);
    multiply_half<0>(w[0], x, sums[0]);
    multiply_half<0>(w[1], x, sums[1]);
#pragma unroll
    for (int t = 0; t < tiles; ++t) x[t] = rows.load(t, stage, 1);
    multiply_half<1>(w[0], x, sums[0]);
    multiply_half<1>(w[1], x, sums[1]);
  }
}

// grid: x = kManyOutputs outputs, y = tiles * 8 rows, or as TensorArgs says of stacks
template <TensorLayout layout, int tiles>
__global__ void __launch_bounds__(kTensorThreads, 1) linear_many(const __grid_constant__ TensorArgs a) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const TensorOutput& o = output_of(a, blockIdx.x);
  const uint32_t groups = (o.outputs + kStageRows - 1) / kStageRows;
  const uint32_t group = ((blockIdx.x - o.first_block) * (kTensorThreads / 32) + warp) * 2;
  start_next_kernel();
  wait_for_earlier_kernels();
  if (group >= groups) return;
  const size_t group_bytes = size_t(a.stages) * stage_bytes(layout);
  BlockWork work = work_of_block(a, 8 * tiles);
  const uint8_t* stages = o.weight + work.matrix * o.matrix_bytes + group * group_bytes;
  const uint8_t* next_stages = group + 1 < groups ? stages + group_bytes : stages;
  for (; work.first < work.last; work.first += 8 * tiles) {
    const uint32_t count = min(work.last - work.first, uint32_t(8 * tiles));
    const Rows<tiles> rows(a, work.first, count, lane);
    float totals[2][tiles][4] = {};
    for (int part = 0; part < kParts; ++part) {
      float sums[2][tiles][4] = {};
      multiply_part<layout>(stages, next_stages, rows, part_begin(part, a.stages),
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
            write_output(a, o, work.matrix, (group + n) * kStageRows + lane / 4 + 8 * (e / 2), work.first + r,
                         totals[n][t][e]);
        }
    }
  }
}

}  // namespace tempo9::backend::cuda
