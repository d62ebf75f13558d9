// The two loops over layouts: for few rows, a warp has a part of the columns of sixteen outputs; for many, it
// has all parts of 32 outputs. The bits are the same (layout.h: the contract).
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

// The same of the only row, in shared memory.
struct SharedRow {
  const uint4* place;

  __device__ __forceinline__ SharedRow(const uint32_t* row, uint32_t stage, uint32_t lane)
      : place(reinterpret_cast<const uint4*>(row) + stage * 8 + lane % 4 * 2) {}
  __device__ __forceinline__ uint4 load(int, int n, int half) const { return place[n * 8 + half]; }
  __device__ __forceinline__ void move(uint32_t stages) { place += stages * 8; }
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

// Stages asked for before they are used, as registers allow; rows are asked for of half as many.
template <int tiles>
constexpr int kAhead = tiles <= 2 ? 4 : 2;

template <TensorLayout layout, int count>
__device__ __forceinline__ void load_first(const StagePlace& at, uint32_t stages,
                                           Stage<layout> (&ahead)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (i < stages) ahead[i].load(at, i);
}

// A warp's part of the columns of sixteen outputs, `left` stages. `ahead` holds the first of them, and at the
// end the first of `next`, if any is to be read.
template <TensorLayout layout, int tiles, class Rows>
__device__ __forceinline__ void multiply_stages(StagePlace at, StagePlace next, bool any_next, int left,
                                                Rows rows, Stage<layout> (&ahead)[kAhead<tiles>],
                                                float (&sums)[tiles][4]) {
  constexpr int count = kAhead<tiles>, together = count / 2;
  for (; left > 0; left -= count) {
#pragma unroll
    for (int b = 0; b < count; b += together) {
      uint4 x[together][2][tiles];
#pragma unroll
      for (int i = 0; i < together; ++i)
#pragma unroll
        for (int t = 0; t < tiles; ++t)
#pragma unroll
          for (int half = 0; half < 2; ++half)
            if (b + i < left) x[i][half][t] = rows.load(t, b + i, half);
#pragma unroll
      for (int i = 0; i < together; ++i) {
        if (b + i >= left) break;
        multiply_half<0>(ahead[b + i], x[i][0], sums);
        multiply_half<1>(ahead[b + i], x[i][1], sums);
        if (b + i + count < left)
          ahead[b + i].load(at, b + i + count);
        else if (any_next)
          ahead[b + i].load(next, b + i);
      }
    }
    at.move(count * stage_bytes(layout));
    rows.move(count);
  }
}

// Sixteen outputs of a launch: which of its outputs, and which sixteen of them.
struct FewUnit {
  uint32_t output, group;

  __device__ __forceinline__ FewUnit(const TensorOutput* outputs, uint32_t count, uint32_t block)
      : output(0) {
    while (output + 1 < count && block >= outputs[output + 1].first_block) ++output;
    group = block - outputs[output].first_block;
  }
  // A lane's place in the stages of a matrix, from stage `begin` on.
  template <TensorLayout layout>
  __device__ __forceinline__ StagePlace place(const TensorOutput* outputs, uint32_t stages, uint32_t matrix,
                                              uint32_t begin, uint32_t lane) const {
    const TensorOutput& o = outputs[output];
    return StagePlace(
        o.weight + matrix * o.matrix_bytes + (size_t(group) * stages + begin) * stage_bytes(layout), lane);
  }
};

// Factors of the rows of a unit, asked for by its block's threads before they multiply.
template <int tiles>
struct RowFactorsOfThread {
  static constexpr uint32_t all = 2 * kParts * 8 * tiles, each = (all + kTensorThreads - 1) / kTensorThreads;
  float values[each];

  __device__ __forceinline__ RowFactorsOfThread(const TensorArgs& a, uint32_t first, uint32_t count) {
#pragma unroll
    for (uint32_t n = 0; n < each; ++n) {
      const uint32_t i = threadIdx.x + n * kTensorThreads, row = i % (8 * tiles);
      if (i < all && row < count)
        values[n] =
            a.row_factors[i / (8 * tiles) * 8 * a.tiles + slot_of(a, first + row) / a.slots_per_input];
    }
  }
  __device__ __forceinline__ void put(float (&factors)[2 * kParts][8 * tiles]) const {
#pragma unroll
    for (uint32_t n = 0; n < each; ++n) {
      const uint32_t i = threadIdx.x + n * kTensorThreads;
      if (i < all) factors[i / (8 * tiles)][i % (8 * tiles)] = values[n];
    }
  }
};

// What a block for few rows has in shared memory: the parts' sums, and of each row and part the inverse power
// of two and the squares, for two units in turn.
template <int tiles>
struct FewScratch {
  float parts[2][kParts][kStageRows][8 * tiles + 1];
  float factors[2][2 * kParts][8 * tiles];
  TensorOutput outputs[kMostOutputs];  // found by number sooner than among the arguments
};

// The sum of the parts to where it belongs: of `count` rows from place `first` on.
template <int tiles>
__device__ __forceinline__ void finish_unit(const TensorArgs& a, const FewScratch<tiles>& s, uint32_t buffer,
                                            const FewUnit& unit, uint32_t matrix, uint32_t first,
                                            uint32_t count) {
  for (uint32_t i = threadIdx.x; i < kStageRows * count; i += kTensorThreads) {
    const uint32_t row = i / kStageRows, output = i % kStageRows;
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < kParts; ++p)
      sum = gpu::fused(s.parts[buffer][p][output][row], s.factors[buffer][p][row], sum);
    const float norm = norm_of(a.input, &s.factors[buffer][kParts][row], 8 * tiles);
    write_output(a, s.outputs[unit.output], matrix, unit.group * kStageRows + output, slot_of(a, first + row),
                 sum, norm);
  }
}

// A warp's part of the only row, to `row` in shared memory, and its factors.
__device__ __forceinline__ void prepare_alone(const TensorArgs& a, uint32_t input_row, uint32_t begin,
                                              uint32_t end, uint32_t* row, FewScratch<1>& s) {
  const uint32_t lane = threadIdx.x % 32, part = threadIdx.x / 32;
  const auto put = [&](uint32_t stage, uint32_t eighth, uint4 pairs) {
    put_in_row(row, stage, eighth, pairs);
  };
  const PartFactors found = prepare_part<2>(a.input, input_row, begin, end, lane, 32, join_warp, put);
  if (lane == 0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      s.factors[i][part][0] = 1.0f / row_scale(found.largest);
      s.factors[i][kParts + part][0] = found.squares;
    }
  }
  __syncwarp();
}

// `alone`: there is one row, or one of a slot, which the kernel prepares. grid: x = sixteen outputs after the
// other, as many as there are; y = tiles * 8 rows, or as TensorArgs says of stacks
template <TensorLayout layout, int tiles, bool alone>
__global__ void __launch_bounds__(kTensorThreads, tiles == 1 ? 3 : 2)
    linear_few(const __grid_constant__ TensorArgs a) {
  extern __shared__ __align__(16) uint32_t only_row[];
  __shared__ FewScratch<tiles> s;
  const uint32_t lane = threadIdx.x % 32, part = threadIdx.x / 32;
  const uint32_t begin = part_begin(part, a.stages), count_of_stages = part_begin(part + 1, a.stages) - begin;
  if (threadIdx.x == 0) {
#pragma unroll
    for (int i = 0; i < kMostOutputs; ++i) s.outputs[i] = a.output[i];
  }
  __syncthreads();
  const TensorOutput& last_output = s.outputs[a.count - 1];
  const uint32_t units = last_output.first_block + (last_output.outputs + kStageRows - 1) / kStageRows;
  FewUnit unit(s.outputs, a.count, blockIdx.x);
  StagePlace at = unit.place<layout>(s.outputs, a.stages, 0, begin, lane);
  start_next_kernel();
  Stage<layout> ahead[kAhead<tiles>];
  // Weights do not depend on what came before; which of a stack are used does.
  if (!of_stack(a)) load_first(at, count_of_stages, ahead);
  wait_for_earlier_kernels();
  const BlockWork work = work_of_block(a, 8 * tiles);
  if (work.first >= work.last) return;  // the whole block
  if (of_stack(a)) {
    at = unit.place<layout>(s.outputs, a.stages, work.matrix, begin, lane);
    load_first(at, count_of_stages, ahead);
  }
  if constexpr (alone)
    prepare_alone(a, work.first / a.slots_per_input, begin, begin + count_of_stages, only_row, s);
  uint32_t block = blockIdx.x, first = work.first, buffer = 0;
  while (block < units) {
    const uint32_t count = min(work.last - first, uint32_t(8 * tiles));
    // Next are other rows with the same outputs, or else other outputs.
    const bool same = first + 8 * tiles < work.last;
    const uint32_t next_block = same ? block : block + gridDim.x;
    const bool any_next = next_block < units;
    const FewUnit next_unit(s.outputs, a.count, any_next ? next_block : block);
    const StagePlace next = next_unit.place<layout>(s.outputs, a.stages, work.matrix, begin, lane);
    float sums[tiles][4] = {};
    if constexpr (alone) {
      multiply_stages<layout, tiles>(at, next, any_next, int(count_of_stages),
                                     SharedRow(only_row, begin, lane), ahead, sums);
    } else {
      const RowFactorsOfThread<tiles> factors(a, first, count);
      multiply_stages<layout, tiles>(at, next, any_next, int(count_of_stages),
                                     Rows<tiles>(a, first, count, begin, lane), ahead, sums);
      factors.put(s.factors[buffer]);
    }
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        s.parts[buffer][part][lane / 4 + 8 * (e / 2)][8 * t + 2 * (lane % 4) + e % 2] = sums[t][e];
    __syncthreads();
    finish_unit(a, s, buffer, unit, work.matrix, first, count);
    at = next, unit = next_unit, block = next_block;
    first = same ? first + 8 * tiles : work.first;
    buffer ^= 1;
  }
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
}

}  // namespace tempo9::backend::cuda
