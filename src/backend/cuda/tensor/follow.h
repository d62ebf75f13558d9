// Programmatic dependent launch: a kernel starts while the one before it ends.
#pragma once

namespace tempo9::backend::cuda {

__device__ __forceinline__ void start_next_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
__device__ __forceinline__ void wait_for_earlier_kernels() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace tempo9::backend::cuda
