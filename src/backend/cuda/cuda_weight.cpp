#include "backend/cuda/cuda_weight.h"

#include "backend/cuda/tensor/repack.h"
#include "backend/gpu/operations.h"

namespace tempo9::backend::cuda {
namespace {

Result<std::unique_ptr<CudaBuffer>> copy_to_device(CudaMemory& memory, std::span<const uint8_t> bytes) {
  TRY_ASSIGN(auto buffer, CudaBuffer::allocate(memory, bytes.size()));
  TRY(memory.write(buffer->address(), bytes.data(), bytes.size()));
  return buffer;
}

}  // namespace

Result<std::unique_ptr<CudaWeight>> CudaWeight::load(CudaMemory& memory, const WeightSource& source,
                                                     bool tensor_cores) {
  TRY(gpu::check_weight(source));
  std::unique_ptr<CudaWeight> weight(new CudaWeight(source));
  if (tensor_cores && source.multiplied) weight->layout_ = tensor_layout(source.format, source.columns);
  if (weight->layout_ != TensorLayout::kNone) {
    const TensorMatrix matrix = repack(source);
    weight->exponent_ = matrix.exponent;
    TRY_ASSIGN(weight->stages_, copy_to_device(memory, matrix.bytes()));
  }
  if (weight->layout_ == TensorLayout::kNone || source.embedded) {
    TRY_ASSIGN(weight->rows_, copy_to_device(memory, source.bytes));
  }
  return weight;
}

}  // namespace tempo9::backend::cuda
