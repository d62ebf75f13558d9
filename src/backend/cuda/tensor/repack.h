// From the file's layout to that of tensor cores (layout.h), on the host.
#pragma once
#include <memory>
#include <span>

#include "backend/cuda/tensor/layout.h"
#include "backend/device.h"

namespace tempo9::backend::cuda {

// kNone: the format, or a matrix of this many columns, stays as in the file.
TensorLayout tensor_layout(quant::Format format, int columns);

// Sixteens of rows of one matrix; the last is filled up with zeros.
inline int row_groups(int rows) {
  return (rows + kStageRows - 1) / kStageRows;
}

struct TensorMatrix {
  TensorLayout layout = TensorLayout::kNone;
  int exponent = 0;                   // scales and minima are multiplied by 2^exponent
  std::unique_ptr<uint8_t[]> memory;  // not set to zeros first: one thread would take long for that
  size_t size = 0;

  std::span<const uint8_t> bytes() const { return {memory.get(), size}; }
};

// `source` is known to be whole, and its layout not to be kNone. On several threads of its own.
TensorMatrix repack(const WeightSource& source);

}  // namespace tempo9::backend::cuda
