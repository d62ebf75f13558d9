// Programmatic dependent launch: a kernel starts while the one before it runs, and waits before it touches
// what that one writes. One that needs nothing of the last launch runs beside it: the last one lets it start
// once all before that are over, and it ends after the last one, so that whoever waits for it has waited for
// both.
#pragma once
#include <cstdint>

namespace tempo9::backend::cuda {

// A bit each of what every kernel is told as its second argument.
enum : uint32_t { kRunsBeside = 1, kLetsBeside = 2 };

#ifdef __CUDACC__
struct Follow {
  uint32_t how;

  __device__ __forceinline__ void begin() const {
    if ((how & kLetsBeside) == 0) start_next();
  }
  __device__ __forceinline__ void wait() const {
    if ((how & kRunsBeside) == 0) wait_for_earlier();
    if ((how & kLetsBeside) != 0) start_next();
  }
  // At least one block of a kernel comes here.
  __device__ __forceinline__ void end() const {
    if ((how & kRunsBeside) != 0) wait_for_earlier();
  }

 private:
  static __device__ __forceinline__ void start_next() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
  }
  static __device__ __forceinline__ void wait_for_earlier() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  }
};
#endif

}  // namespace tempo9::backend::cuda
