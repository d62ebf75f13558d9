// What the kernels for tensor cores are given (layout.h says how things lie).
#pragma once
#include <cstdint>

#include "backend/cuda/tensor/layout.h"

namespace tempo9::backend::cuda {

// A linear operation's input, and how it is prepared.
struct InputArgs {
  const float* x;
  const float* gate;
  const float* norm_weight;
  uint32_t x_stride, gate_stride, columns;
  uint32_t prepare, activation;
  float epsilon;
};

// Makes rows into f16, for kernels of few rows as rows (`panels` 0), for warp groups as panels: [columns /
// 64] [tile of 8 rows][step][half][row % 8][lane % 4] pairs, which are the columns that layout.h names, of
// each lane in a step those of element 0 and 1 in the first half. Each part of a row is multiplied by a power
// of two. row_factors: [part][row] its inverse, then [part][row] the sum of the squares that a norm takes,
// with places for 8 * tiles rows.
struct PanelArgs {
  InputArgs input;
  uint32_t* out;
  float* row_factors;
  uint32_t rows, tiles, panels, unused;
};

// One of the matrices, or stacks of them, that a launch multiplies the same input with.
struct TensorOutput {
  const uint8_t* weight;
  const float* bias;
  float* out;
  uint64_t matrix_bytes;
  uint32_t outputs, out_stride, bias_stride, add;
  uint32_t first_block;
  float weight_factor;  // takes the weight's power of two off
};

// Of stacks, `indices` are the matrices that each slot (row * chosen + rank) asks for. A block's y is a
// matrix, if there are `lists` (of expert_lists) and no indices; a place in the lists, whose first slot of
// each matrix has the work for all, if there are both; a slot of the only row, if there are indices alone.
constexpr int kMostOutputs = 4;
struct TensorArgs {
  TensorOutput output[kMostOutputs];  // ascending by first_block
  const uint32_t* rows_or_panels;     // as the kernel reads them; null: it prepares its only row itself
  const float* row_factors;
  const int* lists;
  const int* indices;
  unsigned long long* matrices_read;  // to be added to where there are no lists
  InputArgs input;
  uint32_t count, rows, matrices, stages, tiles;
  uint32_t slots_per_input, chosen, index_stride;
};

// Without bytes between or behind its members: the compiler's __builtin_clear_padding, which launches are
// made comparable with, clears others than those of a structure that has an array of structures (seen with
// gcc 12, 13).
static_assert(sizeof(TensorArgs) == kMostOutputs * sizeof(TensorOutput) + 5 * sizeof(void*) +
                                        sizeof(InputArgs) + 8 * sizeof(uint32_t));
static_assert(sizeof(InputArgs) == 3 * sizeof(void*) + 6 * sizeof(uint32_t));
static_assert(sizeof(PanelArgs) == sizeof(InputArgs) + 2 * sizeof(void*) + 4 * sizeof(uint32_t));
static_assert(sizeof(TensorOutput) == 4 * sizeof(uint64_t) + 6 * sizeof(uint32_t));

// The kernels of each layout: for few rows with 1, 2 or 4 tiles of eight rows, and for one row that the
// kernel prepares itself; for many rows of any chip; for warp groups with 2, 4 or 8 tiles and with
// kWideTiles.
enum LinearKernel : uint32_t {
  kFewOne,
  kFewTwo,
  kFewFour,
  kAlone,
  kAloneGated,
  kMany,
  kSomeTwo,
  kSomeFour,
  kSomeEight,
  kWide,
  kLinearKernelCount
};

constexpr uint32_t kTensorThreads = 256, kPanelThreads = 256, kAttentionThreads = 128;
// Of the kernels for few rows: a warp's ring has so many chunks of so many stages. Bytes of a block's scratch
// memory, and of all that it shares but for the only row.
constexpr uint32_t kFewChunks = 4, kFewChunk = 2;
constexpr uint32_t few_scratch(uint32_t rows) {
  return 2 * 8 * 4 * (kStageRows * (rows + 1) + 2 * rows) + kMostOutputs * sizeof(TensorOutput);
}
constexpr uint32_t few_shared(TensorLayout layout, uint32_t rows) {
  return (8 * kFewChunks * kFewChunk * uint32_t(stage_bytes(layout)) + few_scratch(rows) + 15) / 16 * 16;
}
// Rows and outputs of a block of the kernel for many rows of any chip.
constexpr uint32_t kManyRows = 64, kManyOutputs = 256;
// Outputs of a block of the kernels for warp groups, and the memory they need for so many tiles of eight
// rows.
constexpr uint32_t kWideThreads = 256, kWideOutputs = 128, kWidePlaces = 8, kWideTiles = 16;
// A row's inverse powers of two, and its norm's factor.
constexpr uint32_t kRowFactors = 8 + 1;
constexpr uint32_t kWideRing = kWidePlaces * (kWideTiles * 1024 + 16);
constexpr uint32_t kWideShared = kWideRing + kRowFactors * kWideTiles * 8 * 4;
constexpr uint32_t kSomeThreads = 512, kSomeOutputs = 64, kSomePlaces = 4;
constexpr uint32_t kSomePitch = kSomeOutputs + 4;  // of the parts' sums
constexpr uint32_t some_rings(uint32_t tiles) {    // in the same place, later, the parts' sums
  const uint32_t rings = kSomeThreads / 128 * kSomePlaces * (tiles * 1024 + 16);
  const uint32_t sums = 8 * 8 * tiles * kSomePitch * 4;
  return rings > sums ? rings : sums;
}
constexpr uint32_t some_shared(uint32_t tiles) {
  return some_rings(tiles) + kRowFactors * tiles * 8 * 4;
}

}  // namespace tempo9::backend::cuda
