// What the kernels for tensor cores are given (layout.h says how things lie).
#pragma once
#include <cstdint>

namespace tempo9::backend::cuda {

// Makes rows into panels: [columns / 64][tile of 8 rows][eight columns][row % 8][4] pairs of f16: both what a
// lane feeds to a multiply (B operand), and what warp groups take from shared memory. Each row is multiplied
// by a power of two; row_factors has its inverse.
struct PanelArgs {
  const float* x;
  const float* gate;
  const float* norm_weight;
  uint32_t* panels;
  float* row_factors;
  uint32_t x_stride, gate_stride, columns, tiles;
  uint32_t prepare, activation;
  float epsilon;
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
struct TensorArgs {
  TensorOutput output[4];  // ascending by first_block
  const uint32_t* panels;
  const float* row_factors;
  const int* lists;
  const int* indices;
  unsigned long long* matrices_read;  // to be added to where there are no lists
  uint32_t count, rows, matrices, stages, tiles;
  uint32_t slots_per_input, chosen, index_stride;
};

// Rows of a block of each kernel.
constexpr uint32_t kManyRows = 64, kTensorThreads = 256, kPanelThreads = 512, kWideThreads = 256,
                   kAttentionThreads = 128;
// Outputs of a block of the kernel for warp groups, and the memory it needs for so many tiles of eight rows.
constexpr uint32_t kWideOutputs = 128;
constexpr uint32_t wide_shared(uint32_t tiles) {
  return 4 * tiles * 1024 + 64;
}
// Outputs of a block of the kernel for many rows.
constexpr uint32_t kManyOutputs = 256;

}  // namespace tempo9::backend::cuda
