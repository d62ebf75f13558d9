// A matrix or a stack of them on a GPU: for tensor cores where they have a layout for it, and as in the file
// where rows are looked up or no such layout exists.
#pragma once
#include <memory>

#include "backend/cuda/cuda_memory.h"
#include "backend/cuda/tensor/layout.h"

namespace tempo9::backend::cuda {

class CudaWeight final : public Weight {
 public:
  // `tensor_cores`: whether the device may use them.
  static Result<std::unique_ptr<CudaWeight>> load(CudaMemory& memory, const WeightSource& source,
                                                  bool tensor_cores);
  size_t resident_bytes() const override {
    return (rows_ ? rows_->bytes() : 0) + (stages_ ? stages_->bytes() : 0);
  }
  // Null if it is only kept for tensor cores.
  const std::byte* rows_address() const { return rows_ ? rows_->address() : nullptr; }

  TensorLayout layout() const { return layout_; }  // kNone: tensor cores do not take it
  const std::byte* stages_address() const { return stages_->address(); }
  int exponent() const { return exponent_; }  // TensorMatrix::exponent

 private:
  explicit CudaWeight(const WeightSource& source)
      : Weight(source.format, source.rows, source.columns, source.count) {}

  std::unique_ptr<CudaBuffer> rows_, stages_;
  TensorLayout layout_ = TensorLayout::kNone;
  int exponent_ = 0;
};

}  // namespace tempo9::backend::cuda
