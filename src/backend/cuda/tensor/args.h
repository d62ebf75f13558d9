// What the kernels for tensor cores are given (layout.h says how things lie).
#pragma once
#include <cstdint>

namespace tempo9::backend::cuda {

// Makes rows into panels: [columns / 64][tile of 8 rows][step / 2][lane][step % 2][2] pairs of f16, as lane
// 4 (row % 8) + t feeds them to a multiply (B operand): columns 16 step + 2 t, + 1 and those + 8. Each row is
// multiplied by a power of two; row_factors has its inverse.
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

struct TensorArgs {
  const uint8_t* weight;
  const uint32_t* panels;
  const float* row_factors;
  const float* bias;
  float* out;
  const int* lists;  // of expert_lists, or null
  uint64_t matrix_bytes;
  uint32_t outputs, rows, matrices, stages, tiles;
  uint32_t out_stride, bias_stride, add, slots_per_input;
  float weight_factor;  // takes the weight's power of two off
};

// Rows of a block of each kernel.
constexpr uint32_t kManyRows = 64, kTensorThreads = 256, kPanelThreads = 128;
// Outputs of a block of the kernel for many rows.
constexpr uint32_t kManyOutputs = 256;

}  // namespace tempo9::backend::cuda
