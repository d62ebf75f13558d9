// The GPU's kernels, compiled for CUDA, and the table by which they are launched.
#include "backend/cuda/heads_kernel.h"
#include "backend/gpu/dialect/cuda.h"
#include "backend/gpu/kernels/all.h"
#include "backend/gpu/kernels/list.h"

namespace tempo9::backend::cuda {

// In the order of gpu::KernelId.
extern const void* const kKernelEntries[] = {
#define GPU_KERNEL_ENTRY(name, Args) reinterpret_cast<const void*>(&gpu::name),
    GPU_KERNELS(GPU_KERNEL_ENTRY)
#undef GPU_KERNEL_ENTRY
};

extern const void* const kPrepareHeads = reinterpret_cast<const void*>(&prepare_heads);

}  // namespace tempo9::backend::cuda
