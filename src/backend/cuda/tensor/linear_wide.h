// The kernel for many rows on chips of compute capability 9.0. The bits are those of the kernels in linear.h
// (layout.h: the contract).
#pragma once
#include "backend/cuda/tensor/warp_groups.h"

namespace tempo9::backend::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// Stages asked for before they are used: a stage takes less than memory needs to answer.
constexpr uint32_t kWideAhead = 4;
// Rows are fetched so many stages ahead: less than the ring has, so that a warp group need not wait until the
// other has used what is replaced.
constexpr uint32_t kWideRowsAhead = kWidePlaces - 3;

// A part of the columns, in stages; those that are empty are passed over.
struct Part {
  int number = -1;
  uint32_t begin = 0, end = 0;

  __device__ __forceinline__ explicit Part(uint32_t stages) { next(stages); }
  __device__ __forceinline__ void next(uint32_t stages) {
    begin = end;
    while (end == begin && number + 1 < kParts) end = part_begin(++number + 1, stages);
  }
};

template <int tiles>
__device__ __forceinline__ void write_tiles(const TensorArgs& a, const TensorOutput& o, uint32_t first_output,
                                            uint32_t first_row, const RowFactors<8 * tiles>& factors,
                                            const float (&totals)[tiles][4]) {
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (int t = 0; t < tiles; ++t)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const uint32_t r = t * 8 + 2 * (lane % 4) + e % 2, output = first_output + lane / 4 + 8 * (e / 2);
      if (first_row + r < a.rows) write_output(a, o, 0, output, first_row + r, totals[t][e], factors.norm[r]);
    }
}

template <int tiles>
__device__ __forceinline__ void add_part(const float (&inverse)[8 * tiles], const float (&sums)[tiles][4],
                                         float (&totals)[tiles][4]) {
#pragma unroll
  for (int t = 0; t < tiles; ++t) {
    const float2 two = *reinterpret_cast<const float2*>(&inverse[8 * t + 2 * (threadIdx.x % 4)]);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      totals[t][e] = gpu::fused(sums[t][e], e % 2 == 0 ? two.x : two.y, totals[t][e]);
  }
}

// While a stage is multiplied, the next is decoded. grid: x = kWideOutputs outputs, y = kWideTiles * 8 rows
template <TensorLayout layout>
__global__ void __launch_bounds__(kWideThreads, 1)
    linear_wide(const __grid_constant__ TensorArgs a, const Follow follow) {
  constexpr int tiles = kWideTiles;
  extern __shared__ __align__(1024) uint4 memory[];
  auto& ring = *reinterpret_cast<RowRing<tiles, kWidePlaces, kWideThreads / 32>*>(memory);
  auto& factors = *reinterpret_cast<RowFactors<8 * tiles>*>(memory + kWideRing / 16);
  const TensorOutput& o = output_of(a, blockIdx.x);
  const uint32_t group = (blockIdx.x - o.first_block) * (kWideThreads / 32) + threadIdx.x / 32;
  // Warps past the last outputs go along: a warp group multiplies together.
  const uint32_t last_group = (o.outputs + kStageRows - 1) / kStageRows - 1;
  StagePlace at(o.weight + size_t(min(group, last_group)) * a.stages * stage_bytes(layout), threadIdx.x % 32);
  const uint32_t first_tile = blockIdx.y * tiles, bytes = min(a.tiles - first_tile, uint32_t(tiles)) * 1024;
  const auto fetch = [&](uint32_t stage) {
    if (threadIdx.x == 0 && stage < a.stages)
      ring.fetch(a.rows_or_panels + (size_t(stage) * a.tiles + first_tile) * 256, stage, bytes);
  };
  follow.begin();
  if (threadIdx.x == 0) ring.start();
  __syncthreads();
  Stage<layout> w[kWideAhead];
  load_first(at, a.stages, w);
  follow.wait();
  for (uint32_t stage = 0; stage < kWideRowsAhead; ++stage) fetch(stage);
  factors.load(a, first_tile * 8);
  __syncthreads();
  float totals[tiles][4] = {}, sums[tiles][4];
  uint32_t decoded[2][4][4];
  decode_stage(w[0], decoded[0]);
  if (kWideAhead < a.stages) w[0].load(at, kWideAhead);
  Part part(a.stages);
  for (uint32_t from = 0; from < a.stages; from += kWideAhead) {
#pragma unroll
    for (uint32_t i = 0; i < kWideAhead; ++i) {
      const uint32_t stage = from + i;
      if (stage >= a.stages) break;
      ring.wait(stage);
      begin_stage(decoded[i % 2], ring.descriptor(stage), stage > part.begin ? 1 : 0, sums);
      Stage<layout>& next = w[(i + 1) % kWideAhead];
      if (stage + 1 < a.stages) decode_stage(next, decoded[(i + 1) % 2]);
      if (stage + 1 + kWideAhead < a.stages) next.load(at, i + 1 + kWideAhead);
      fetch(stage + kWideRowsAhead);
      finish_stage(sums);
      ring.free(stage);
      if (stage + 1 < part.end) continue;
      add_part(factors.inverse[part.number], sums, totals);
      part.next(a.stages);
    }
    at.move(kWideAhead * stage_bytes(layout));
  }
  if (group <= last_group) write_tiles(a, o, group * kStageRows, first_tile * 8, factors, totals);
  follow.end();
}

#else  // compiled for chips that have none of this, and never launched there
template <TensorLayout layout>
__global__ void linear_wide(const __grid_constant__ TensorArgs, const Follow) {}
#endif

}  // namespace tempo9::backend::cuda
