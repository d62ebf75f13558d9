// Rows of a linear operation's input, prepared, as tensor cores read them: for more rows than one.
#pragma once
#include "backend/cuda/tensor/follow.h"
#include "backend/cuda/tensor/prepare.h"

namespace tempo9::backend::cuda {

// Several warps' PartFactors together; no squares.
template <int warps>
__device__ __forceinline__ PartFactors join_warps(float (&largest)[8], PartFactors f) {
  f = join_warp(f);
  if (warps == 1) return f;
  if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = f.largest;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) f.largest = fmaxf(f.largest, largest[i]);
  return f;
}

// `warps`, 1 or 8, work on a part of a row: 8 where rows are few, for what has no sum to be taken in order.
// grid: x = 8 / warps rows, y = part
template <int warps>
__global__ void __launch_bounds__(kPanelThreads)
    make_panels(const __grid_constant__ PanelArgs a, const Follow follow) {
  static_assert(kPanelThreads == 256);
  __shared__ float largest[8];
  follow.begin();
  follow.wait();
  const uint32_t row = blockIdx.x * (8 / warps) + threadIdx.x / (32 * warps), part = blockIdx.y;
  if (row >= a.rows) return;  // all that would meet at a barrier
  const uint32_t stages = a.input.columns / kStageColumns;
  uint32_t* tile = a.out + row / 8 * 256 + row % 8 * 4;
  uint32_t* const own = a.out + size_t(row) * (a.input.columns / 2);
  const auto put = [&](uint32_t stage, uint32_t eighth, uint4 pairs) {
    if (a.panels != 0)
      *reinterpret_cast<uint4*>(tile + size_t(stage) * a.tiles * 256 + eighth * 32) = pairs;
    else
      put_in_row(own, stage, eighth, pairs);
  };
  const auto join = [&](PartFactors f) { return join_warps<warps>(largest, f); };
  const uint32_t thread = threadIdx.x % (32 * warps);
  const PartFactors factors = prepare_part<true>(a.input, row, part_begin(part, stages),
                                                 part_begin(part + 1, stages), thread, 32 * warps, join, put);
  if (thread != 0) return;
  a.row_factors[part * 8 * a.tiles + row] = 1.0f / row_scale(factors.largest);
  a.row_factors[(kParts + part) * 8 * a.tiles + row] = factors.squares;
}

}  // namespace tempo9::backend::cuda
