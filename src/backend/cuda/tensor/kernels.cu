// The kernels for tensor cores, and the table by which they are launched.
#include "backend/cuda/tensor/linear.h"
#include "backend/cuda/tensor/panels.h"

namespace tempo9::backend::cuda {

extern const void* const kMakePanels = reinterpret_cast<const void*>(&make_panels);

// By layout and number of tiles of eight rows: 1, 2, 4, then the kernel for many rows.
#define TENSOR_KERNELS(layout)                                                           \
  {                                                                                      \
    reinterpret_cast<const void*>(&linear_few<TensorLayout::layout, 1>),                 \
        reinterpret_cast<const void*>(&linear_few<TensorLayout::layout, 2>),             \
        reinterpret_cast<const void*>(&linear_few<TensorLayout::layout, 4>),             \
        reinterpret_cast<const void*>(&linear_many<TensorLayout::layout, kManyRows / 8>) \
  }
extern const void* const kLinearKernels[][4] = {{},  // TensorLayout::kNone
                                                TENSOR_KERNELS(kNibble32),
                                                TENSOR_KERNELS(kFive32),
                                                TENSOR_KERNELS(kSix16),
                                                TENSOR_KERNELS(kByte32)};
#undef TENSOR_KERNELS

}  // namespace tempo9::backend::cuda
