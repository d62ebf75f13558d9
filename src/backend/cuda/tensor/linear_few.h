// The loop for few rows: a warp has a part of the columns of sixteen outputs, whose stages come to its ring
// in shared memory ahead of it, before the rows are there and beyond one unit of outputs. The bits are those
// of the other kernels (layout.h: the contract).
#pragma once
#include "backend/cuda/tensor/linear.h"

namespace tempo9::backend::cuda {

// Rows<1> of the only row, in shared memory.
struct SharedRow {
  const uint4* place;

  __device__ __forceinline__ SharedRow(const uint32_t* row, uint32_t stage, uint32_t lane)
      : place(reinterpret_cast<const uint4*>(row) + stage * 8 + lane % 4 * 2) {}
  __device__ __forceinline__ uint4 load(int, int n, int half) const { return place[n * 8 + half]; }
  __device__ __forceinline__ void move(uint32_t stages) { place += stages * 8; }
};

// Sixteen outputs of a launch: which of its outputs, and which sixteen of them.
struct FewUnit {
  uint32_t output, group;

  __device__ __forceinline__ FewUnit(const TensorOutput* outputs, uint32_t count, uint32_t block)
      : output(0) {
    while (output + 1 < count && block >= outputs[output + 1].first_block) ++output;
    group = block - outputs[output].first_block;
  }
  // The stages of a matrix from stage `begin` on.
  __device__ __forceinline__ const uint8_t* stages(const TensorOutput* outputs, const TensorArgs& a,
                                                   uint32_t matrix, uint32_t begin, uint32_t bytes) const {
    const TensorOutput& o = outputs[output];
    return o.weight + matrix * o.matrix_bytes + (size_t(group) * a.stages + begin) * bytes;
  }
};

// Who prepares a kernel's input: a launch before it, or, of one row, or one row of each slot, the kernel.
enum FewInput { kPrepared, kAsIsOrNorm, kAnyInput };

// Blocks that shall have room on a multiprocessor.
constexpr int few_blocks_together(FewInput input, int tiles) {
  return input != kPrepared ? 4 : tiles == 1 ? 3 : 2;
}

// Where a block is: sixteen outputs, and `rows` rows from `first` on.
struct FewTurn {
  uint32_t block, first;

  // Next are other rows with the same outputs, or else other outputs.
  __device__ __forceinline__ void move(const BlockWork& work, uint32_t rows) {
    first += rows;
    if (first < work.last) return;
    first = work.first;
    block += gridDim.x;
  }
};

// What a block has in shared memory, besides rings: the parts' sums, and of each row and part the inverse
// power of two and the squares, for two units in turn.
template <int rows>
struct FewScratch {
  float parts[2][kParts][kStageRows][rows + 1];
  float factors[2][2 * kParts][rows];
  TensorOutput outputs[kMostOutputs];  // found by number sooner than among the arguments
};
static_assert(sizeof(FewScratch<1>) <= few_scratch(1) && sizeof(FewScratch<8>) <= few_scratch(8) &&
              sizeof(FewScratch<16>) <= few_scratch(16) && sizeof(FewScratch<32>) <= few_scratch(32));

// A warp's ring of chunks of stages, which follow each other over the block's turns. Bulk copies of so few
// bytes were half as fast.
template <TensorLayout layout>
struct FewRing {
  static constexpr uint32_t chunk_bytes = kFewChunk * stage_bytes(layout);
  uint8_t* chunks;
  const uint8_t* from;  // what this lane fetches next
  uint32_t left;        // stages that follow it in the same turn
  uint32_t fetched, used;

  // Asks for the next stages: none, some or a whole chunk.
  __device__ __forceinline__ void copy(uint32_t stages) {
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t to = shared_address(chunks) + fetched++ % kFewChunks * chunk_bytes + 16 * lane;
    const uint32_t bytes = stages * stage_bytes(layout);
    if (stages == kFewChunk) {
#pragma unroll
      for (uint32_t at = 0; at < chunk_bytes; at += 32 * 16)
        if (at + 32 * 16 <= chunk_bytes || at + 16 * lane < chunk_bytes) copy16(to + at, from + at);
    } else {
#pragma unroll 1
      for (uint32_t at = 0; at + 16 * lane < bytes; at += 32 * 16) copy16(to + at, from + at);
    }
    from += bytes;
    left -= stages;
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  static __device__ __forceinline__ void copy16(uint32_t to, const uint8_t* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  }
  // Until the chunk that is used next is there; where it is.
  __device__ __forceinline__ const uint8_t* wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kFewChunks - 1) : "memory");
    __syncwarp();
    return chunks + used++ % kFewChunks * chunk_bytes;
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

// The sum of the parts to where it belongs: of `count` rows from place `first` on.
template <int rows>
__device__ __forceinline__ void finish_unit(const TensorArgs& a, const FewScratch<rows>& s, uint32_t buffer,
                                            const FewUnit& unit, uint32_t matrix, uint32_t first,
                                            uint32_t count) {
  for (uint32_t i = threadIdx.x; i < kStageRows * count; i += kTensorThreads) {
    const uint32_t row = i / kStageRows, output = i % kStageRows;
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < kParts; ++p)
      sum = gpu::fused(s.parts[buffer][p][output][row], s.factors[buffer][p][row], sum);
    const float norm = norm_of(a.input, &s.factors[buffer][kParts][row], rows);
    write_output(a, s.outputs[unit.output], matrix, unit.group * kStageRows + output, slot_of(a, first + row),
                 sum, norm);
  }
}

// A warp's part of the only row, to `row` in shared memory, and its factors.
template <bool gated>
__device__ __forceinline__ void prepare_alone(const TensorArgs& a, uint32_t input_row, uint32_t begin,
                                              uint32_t end, uint32_t* row, FewScratch<1>& s) {
  const uint32_t lane = threadIdx.x % 32, part = threadIdx.x / 32;
  const auto put = [&](uint32_t stage, uint32_t eighth, uint4 pairs) {
    put_in_row(row, stage, eighth, pairs);
  };
  const PartFactors found = prepare_part<gated>(a.input, input_row, begin, end, lane, 32, join_warp, put);
  if (lane == 0) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      s.factors[i][part][0] = 1.0f / row_scale(found.largest);
      s.factors[i][kParts + part][0] = found.squares;
    }
  }
  __syncwarp();
}

// A warp's part of a unit: `left` stages, from its ring. fetch() asks for one chunk more.
template <TensorLayout layout, int tiles, class Rows, class Fetch>
__device__ __forceinline__ void multiply_stages(FewRing<layout>& ring, int left, Rows rows,
                                                const Fetch& fetch, float (&sums)[tiles][4]) {
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll 1
  for (; left > 0; left -= int(kFewChunk)) {
    uint4 x[kFewChunk][2][tiles];
#pragma unroll
    for (int i = 0; i < int(kFewChunk); ++i)
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          if (i < left) x[i][half][t] = rows.load(t, i, half);
    const SharedPlace at(ring.wait(), lane);
    Stage<layout> w[kFewChunk];
    if (left >=
        int(kFewChunk)) {  // without branches between, so that one is decoded while another is multiplied
#pragma unroll
      for (int i = 0; i < int(kFewChunk); ++i) w[i].load(at, i);
#pragma unroll
      for (int i = 0; i < int(kFewChunk); ++i) {
        multiply_half<0>(w[i], x[i][0], sums);
        multiply_half<1>(w[i], x[i][1], sums);
      }
    } else {
      static_assert(kFewChunk == 2);
      w[0].load(at, 0);
      multiply_half<0>(w[0], x[0][0], sums);
      multiply_half<1>(w[0], x[0][1], sums);
    }
    __syncwarp();
    fetch();
    rows.move(kFewChunk);
  }
}

// grid: x = sixteen outputs after the other, as many as there are; y = tiles * 8 rows, or as TensorArgs says
// of stacks
template <TensorLayout layout, int tiles, FewInput input>
__global__ void __launch_bounds__(kTensorThreads, few_blocks_together(input, tiles))
    linear_few(const __grid_constant__ TensorArgs a, const Follow follow) {
  constexpr bool alone = input != kPrepared;
  constexpr int rows = alone ? 1 : 8 * tiles;
  extern __shared__ __align__(1024) uint4 memory[];
  auto* rings = reinterpret_cast<uint8_t*>(memory);  // then scratch, then the only row
  auto& s = *reinterpret_cast<FewScratch<rows>*>(rings + kParts * kFewChunks * FewRing<layout>::chunk_bytes);
  auto* only_row = reinterpret_cast<uint32_t*>(rings + few_shared(layout, rows));
  const uint32_t lane = threadIdx.x % 32, part = threadIdx.x / 32;
  const uint32_t begin = part_begin(part, a.stages), count_of_stages = part_begin(part + 1, a.stages) - begin;
  if (threadIdx.x < kMostOutputs) s.outputs[threadIdx.x] = a.output[threadIdx.x];
  __syncthreads();
  const TensorOutput& last_output = s.outputs[a.count - 1];
  const uint32_t units = last_output.first_block + (last_output.outputs + kStageRows - 1) / kStageRows;
  follow.begin();
  // Weights do not depend on what came before; which of a stack are used, and for how many rows, does.
  const bool known = !of_stack(a);
  if (!known) follow.wait();
  const BlockWork work = work_of_block(a, rows);
  if (work.first >= work.last) return;  // the whole block
  FewRing<layout> ring;
  ring.chunks = rings + part * kFewChunks * FewRing<layout>::chunk_bytes;
  ring.left = ring.fetched = ring.used = 0;
  FewTurn ahead = {blockIdx.x, work.first};
  const auto fetch = [&] {
    if (ring.left == 0 && ahead.block < units) {
      ring.left = count_of_stages;
      ring.from = FewUnit(s.outputs, a.count, ahead.block)
                      .stages(s.outputs, a, work.matrix, begin, stage_bytes(layout)) +
                  16 * lane;
      ahead.move(work, rows);
    }
    ring.copy(min(ring.left, kFewChunk));
  };
#pragma unroll 1
  for (uint32_t i = 0; i < kFewChunks; ++i) fetch();
  if (alone && a.input.prepare == gpu::PREPARE_RMS_NORM && lane < 2 * count_of_stages)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(a.input.norm_weight + begin * kStageColumns + 32 * lane));
  if (known) follow.wait();
  if constexpr (alone)
    prepare_alone<input == kAnyInput>(a, work.first / a.slots_per_input, begin, begin + count_of_stages,
                                      only_row, s);
  FewTurn turn = {blockIdx.x, work.first};
  for (uint32_t buffer = 0; turn.block < units; buffer ^= 1) {
    const uint32_t count = min(work.last - turn.first, uint32_t(rows));
    float sums[tiles][4] = {};
    if constexpr (alone) {
      multiply_stages<layout, tiles>(ring, int(count_of_stages), SharedRow(only_row, begin, lane), fetch,
                                     sums);
    } else {
      const RowFactorsOfThread<tiles> factors(a, turn.first, count);
      multiply_stages<layout, tiles>(ring, int(count_of_stages),
                                     Rows<tiles>(a, turn.first, count, begin, lane), fetch, sums);
      factors.put(s.factors[buffer]);
    }
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const uint32_t row = 8 * t + 2 * (lane % 4) + e % 2;
        if (row < rows) s.parts[buffer][part][lane / 4 + 8 * (e / 2)][row] = sums[t][e];
      }
    __syncthreads();
    finish_unit(a, s, buffer, FewUnit(s.outputs, a.count, turn.block), work.matrix, turn.first, count);
    turn.move(work, rows);
  }
  follow.end();
}

}  // namespace tempo9::backend::cuda
