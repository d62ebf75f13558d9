// What the loops over layouts share, and the loop for many rows of any chip: a warp has all parts of 32
// outputs.
#pragma once
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/follow.h"
#include "backend/cuda/tensor/prepare.h"
#include "backend/cuda/tensor/stages.h"

namespace tempo9::backend::cuda {

__device__ __forceinline__ uint32_t slot_of(const TensorArgs& a, uint32_t place) {
  return a.lists != nullptr ? uint32_t(a.lists[a.matrices + 1 + place]) : place;
}

// A lane's rows, from a stage on: one of each tile of eight. For a row that is not there another is read,
// whose results nobody takes.
template <int tiles>
struct Rows {
  const uint4* place[tiles];

  __device__ __forceinline__ Rows(const TensorArgs& a, uint32_t first, uint32_t count, uint32_t stage,
                                  uint32_t lane) {
#pragma unroll
    for (int i = 0; i < tiles; ++i) {
      const size_t row = slot_of(a, first + min(8 * i + lane / 4, count - 1)) / a.slots_per_input;
      place[i] =
          reinterpret_cast<const uint4*>(a.rows_or_panels) + (row * a.stages + stage) * 8 + lane % 4 * 2;
    }
  }
  // Two steps of the stage that is n further.
  __device__ __forceinline__ uint4 load(int tile, int n, int half) const {
    return __ldg(place[tile] + n * 8 + half);
  }
  __device__ __forceinline__ void move(uint32_t stages) {
#pragma unroll
    for (int i = 0; i < tiles; ++i) place[i] += stages * 8;
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
                                             uint32_t output, uint32_t slot, float sum, float norm) {
  if (output >= o.outputs) return;
  float y = sum * (o.weight_factor * norm);
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

template <TensorLayout layout, int count>
__device__ __forceinline__ void load_first(const StagePlace& at, uint32_t stages,
                                           Stage<layout> (&ahead)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (i < stages) ahead[i].load(at, i);
}

// Thirty-two outputs of a warp through the next `count` stages.
template <TensorLayout layout, int tiles>
__device__ __forceinline__ void multiply_part(StagePlace& at, StagePlace& next, Rows<tiles>& rows, int count,
                                              float (&sums)[2][tiles][4]) {
  for (; count > 0; --count) {
    Stage<layout> w[2];
    w[0].load(at, 0);
    w[1].load(next, 0);
    uint4 x[tiles];
#pragma unroll
    for (int t = 0; t < tiles; ++t) x[t] = rows.load(t, 0, 0);
    multiply_half<0>(w[0], x, sums[0]);
    multiply_half<0>(w[1], x, sums[1]);
#pragma unroll
    for (int t = 0; t < tiles; ++t) x[t] = rows.load(t, 0, 1);
    multiply_half<1>(w[0], x, sums[0]);
    multiply_half<1>(w[1], x, sums[1]);
    at.move(stage_bytes(layout));
    next.move(stage_bytes(layout));
    rows.move(1);
  }
}

// grid: x = kManyOutputs outputs, y = tiles * 8 rows, or as TensorArgs says of stacks
template <TensorLayout layout, int tiles>
__global__ void __launch_bounds__(kTensorThreads, 1)
    linear_many(const __grid_constant__ TensorArgs a, const Follow follow) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const TensorOutput& o = output_of(a, blockIdx.x);
  const uint32_t groups = (o.outputs + kStageRows - 1) / kStageRows;
  const uint32_t group = ((blockIdx.x - o.first_block) * (kTensorThreads / 32) + warp) * 2;
  follow.begin();
  follow.wait();
  if (group >= groups) return;
  const size_t group_bytes = size_t(a.stages) * stage_bytes(layout);
  BlockWork work = work_of_block(a, 8 * tiles);
  const uint8_t* stages = o.weight + work.matrix * o.matrix_bytes + group * group_bytes;
  const uint8_t* next_stages = group + 1 < groups ? stages + group_bytes : stages;
  for (; work.first < work.last; work.first += 8 * tiles) {
    const uint32_t count = min(work.last - work.first, uint32_t(8 * tiles));
    Rows<tiles> rows(a, work.first, count, 0, lane);
    StagePlace at(stages, lane), next(next_stages, lane);
    float totals[2][tiles][4] = {};
    for (int part = 0; part < kParts; ++part) {
      float sums[2][tiles][4] = {};
      multiply_part<layout>(at, next, rows, part_begin(part + 1, a.stages) - part_begin(part, a.stages),
                            sums);
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int t = 0; t < tiles; ++t)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const uint32_t r = min(8 * t + 2 * (lane % 4) + e % 2, count - 1);
            const uint32_t row = slot_of(a, work.first + r) / a.slots_per_input;
            totals[n][t][e] =
                gpu::fused(sums[n][t][e], a.row_factors[part * 8 * a.tiles + row], totals[n][t][e]);
          }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      if (group + n >= groups) break;
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const uint32_t r = 8 * t + 2 * (lane % 4) + e % 2;
          if (r >= count) continue;
          const uint32_t slot = slot_of(a, work.first + r), row = slot / a.slots_per_input;
          const float norm = norm_of(a.input, a.row_factors + kParts * 8 * a.tiles + row, 8 * a.tiles);
          write_output(a, o, work.matrix, (group + n) * kStageRows + lane / 4 + 8 * (e / 2), slot,
                       totals[n][t][e], norm);
        }
    }
  }
  follow.end();
}

}  // namespace tempo9::backend::cuda
