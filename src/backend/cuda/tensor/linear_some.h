// The kernel for some rows on chips of compute capability 9.0: more than a step of a few streams has, fewer
// than fill the chip with blocks of linear_wide.h. A warp group has two parts of the columns, so that four
// share the work of sixty-four outputs; the parts are added in order at the end. The bits are those of the
// kernels in linear.h (layout.h: the contract).
#pragma once
#include "backend/cuda/tensor/warp_groups.h"

namespace tempo9::backend::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr uint32_t kSomeAhead = 4;
constexpr uint32_t kTeams = kSomeThreads / 128;
static_assert(kParts == 2 * kTeams);

// A part's sums, to where all parts' are added: [row][output].
template <int tiles>
__device__ __forceinline__ void put_sums(float* place, const float (&sums)[tiles][4]) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int t = 0; t < tiles; ++t)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      place[(8 * t + 2 * (lane % 4) + e % 2) * kSomePitch + warp * 16 + lane / 4 + 8 * (e / 2)] = sums[t][e];
}

// grid: x = kSomeOutputs outputs, y = tiles * 8 rows
template <TensorLayout layout, int tiles>
__global__ void __launch_bounds__(kSomeThreads, 1)
    linear_some(const __grid_constant__ TensorArgs a, const Follow follow) {
  extern __shared__ __align__(1024) uint4 memory[];
  using Ring = RowRing<tiles, kSomePlaces, 4>;
  auto& factors = *reinterpret_cast<RowFactors<8 * tiles>*>(memory + some_rings(tiles) / 16);
  const uint32_t team = threadIdx.x / 128;
  Ring& ring = reinterpret_cast<Ring*>(memory)[team];
  const TensorOutput& o = output_of(a, blockIdx.x);
  const uint32_t first_output = (blockIdx.x - o.first_block) * kSomeOutputs;
  // Warps past the last outputs go along: a warp group multiplies together.
  const uint32_t last_group = (o.outputs + kStageRows - 1) / kStageRows - 1;
  const uint32_t group = min(first_output / kStageRows + threadIdx.x / 32 % 4, last_group);
  const uint32_t begin = part_begin(2 * team, a.stages), middle = part_begin(2 * team + 1, a.stages),
                 end = part_begin(2 * team + 2, a.stages);
  StagePlace at(o.weight + (size_t(group) * a.stages + begin) * stage_bytes(layout), threadIdx.x % 32);
  const uint32_t first_tile = blockIdx.y * tiles, bytes = min(a.tiles - first_tile, uint32_t(tiles)) * 1024;
  const auto fetch = [&](uint32_t stage) {
    if (threadIdx.x % 128 == 0 && stage < end)
      ring.fetch(a.rows_or_panels + (size_t(stage) * a.tiles + first_tile) * 256, stage - begin, bytes);
  };
  follow.begin();
  if (threadIdx.x % 128 == 0) ring.start();
  __syncthreads();
  Stage<layout> w[kSomeAhead];
  load_first(at, end - begin, w);
  follow.wait();
  for (uint32_t i = 0; i + 1 < kSomePlaces; ++i) fetch(begin + i);
  factors.load(a, first_tile * 8);
  float first[tiles][4] = {}, sums[tiles][4] = {};
  for (uint32_t from = begin; from < end; from += kSomeAhead) {
#pragma unroll
    for (uint32_t i = 0; i < kSomeAhead; ++i) {
      const uint32_t stage = from + i;
      if (stage >= end) break;
      uint32_t decoded[4][4];
      decode_stage(w[i], decoded);
      if (stage + kSomeAhead < end) w[i].load(at, i + kSomeAhead);
      ring.wait(stage - begin);
      begin_stage(decoded, ring.descriptor(stage - begin), stage != begin && stage != middle ? 1 : 0, sums);
      finish_stage(sums);
      ring.free(stage - begin);
      fetch(stage + kSomePlaces - 1);
      if (stage + 1 != middle) continue;
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) first[t][e] = sums[t][e], sums[t][e] = 0.0f;
    }
    at.move(kSomeAhead * stage_bytes(layout));
  }
  __syncthreads();  // the rings are used no more
  constexpr uint32_t part_size = 8 * tiles * kSomePitch;
  auto* parts = reinterpret_cast<float*>(memory);
  put_sums(parts + 2 * team * part_size, first);
  put_sums(parts + (2 * team + 1) * part_size, sums);
  __syncthreads();
  const uint32_t rows = min(a.rows - first_tile * 8, uint32_t(8 * tiles));
  for (uint32_t i = threadIdx.x; i < rows * kSomeOutputs; i += kSomeThreads) {
    const uint32_t row = i / kSomeOutputs, output = i % kSomeOutputs;
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < kParts; ++p)
      sum = gpu::fused(parts[p * part_size + row * kSomePitch + output], factors.inverse[p][row], sum);
    write_output(a, o, 0, first_output + output, first_tile * 8 + row, sum, factors.norm[row]);
  }
  follow.end();
}

#else  // compiled for chips that have none of this, and never launched there
template <TensorLayout layout, int tiles>
__global__ void linear_some(const __grid_constant__ TensorArgs, const Follow) {}
#endif

}  // namespace tempo9::backend::cuda
