// The kernels for tensor cores, and the table by which they are launched.
#include "backend/cuda/tensor/attention.h"
#include "backend/cuda/tensor/linear.h"
#include "backend/cuda/tensor/linear_few.h"
#include "backend/cuda/tensor/linear_some.h"
#include "backend/cuda/tensor/linear_wide.h"
#include "backend/cuda/tensor/panels.h"

namespace tempo9::backend::cuda {

// With a warp for each part of a row, or with eight.
extern const void* const kMakePanels[2] = {reinterpret_cast<const void*>(&make_panels<1>),
                                           reinterpret_cast<const void*>(&make_panels<8>)};

// By layout, in the order of LinearKernel.
#define TENSOR_KERNELS(layout)                                                            \
  {                                                                                       \
    reinterpret_cast<const void*>(&linear_few<TensorLayout::layout, 1, kPrepared>),       \
        reinterpret_cast<const void*>(&linear_few<TensorLayout::layout, 2, kPrepared>),   \
        reinterpret_cast<const void*>(&linear_few<TensorLayout::layout, 4, kPrepared>),   \
        reinterpret_cast<const void*>(&linear_few<TensorLayout::layout, 1, kAsIsOrNorm>), \
        reinterpret_cast<const void*>(&linear_few<TensorLayout::layout, 1, kAnyInput>),   \
        reinterpret_cast<const void*>(&linear_many<TensorLayout::layout, kManyRows / 8>), \
        reinterpret_cast<const void*>(&linear_some<TensorLayout::layout, 2>),             \
        reinterpret_cast<const void*>(&linear_some<TensorLayout::layout, 4>),             \
        reinterpret_cast<const void*>(&linear_some<TensorLayout::layout, 8>),             \
        reinterpret_cast<const void*>(&linear_wide<TensorLayout::layout>)                 \
  }
extern const void* const kLinearKernels[][kLinearKernelCount] = {{},  // TensorLayout::kNone
                                                                 TENSOR_KERNELS(kNibble32),
                                                                 TENSOR_KERNELS(kFive32),
                                                                 TENSOR_KERNELS(kSix16),
                                                                 TENSOR_KERNELS(kByte32),
                                                                 TENSOR_KERNELS(kThree16),
                                                                 TENSOR_KERNELS(kE2m1)};
#undef TENSOR_KERNELS

#define ATTENTION_KERNELS(size) \
  { reinterpret_cast<const void*>(&attend<size, 1>), reinterpret_cast<const void*>(&attend<size, 2>) }
#define ATTENTION_SHARED(size) \
  { sizeof(AttentionScratch<size, 1>), sizeof(AttentionScratch<size, 2>) }
extern const void* const kAttentionKernels[3][2] = {ATTENTION_KERNELS(64), ATTENTION_KERNELS(128),
                                                    ATTENTION_KERNELS(256)};
extern const uint32_t kAttentionShared[3][2] = {ATTENTION_SHARED(64), ATTENTION_SHARED(128),
                                                ATTENTION_SHARED(256)};
#undef ATTENTION_KERNELS
#undef ATTENTION_SHARED

}  // namespace tempo9::backend::cuda
