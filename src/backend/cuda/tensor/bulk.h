// Copies from device memory to shared memory that go on by themselves, on chips of compute capability 9.0 and
// more, and the barriers that tell when they are over.
#pragma once
#include "backend/cuda/tensor/mma.h"

namespace tempo9::backend::cuda {

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ void init_barrier(uint64_t& barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals));
}
// After the last init_barrier() of a thread.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void wait_barrier(uint64_t& barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}
// By one thread, as the barrier's only arrival.
__device__ __forceinline__ void copy_in_bulk(void* to, const void* from, uint32_t bytes, uint64_t& barrier) {
  const uint32_t at = shared_address(&barrier);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(from), "r"(bytes), "r"(at)
      : "memory");
}

#endif

}  // namespace tempo9::backend::cuda
