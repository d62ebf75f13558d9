// Runs kernels on the host, one group after the other: each GPU thread is a fiber that runs until it needs
// another one (an exchange within its SIMD group, or the group's barrier). What a GPU would not forgive is
// found: an exchange that not all 32 lanes reach, a barrier that not all threads reach, and, since scratch
// memory begins as NaNs and threads can be taken in any order, a barrier that is missing.
// Threads: any number of host threads may run groups at once.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/result.h"

namespace tempo9::backend::gpu::emulation {

inline constexpr uint32_t kGroupThreads = 128;
inline constexpr uint32_t kScratchBytes = 32 << 10;

// What a kernel knows of its thread.
struct Ctx {
  uint32_t tid, lane, simd;
  uint32_t group, group_y;
};

using Kernel = void (*)(const Ctx& c, const void* args, void* scratch);

// The order in which the threads of a group go on. Results must not depend on it.
enum class Order { kForward, kReverse, kShuffled };

struct Grid {
  uint32_t x = 1, y = 1;
};

// kInternal: the kernel does what a GPU would not survive; the message says what. The memory the kernel wrote
// is then of no use.
Status run(Kernel kernel, Grid grid, const void* args, Order order);

// For the dialect's mapping only, inside a kernel:

void wait_for_group();
uint32_t current_lane();
// The 16 bytes that each lane offers; valid until the lane's next exchange but one.
const void* exchange_bytes(const void* offered, uint32_t bytes);

template <class T>
const T* exchange(const T& offered) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 16));
  return static_cast<const T*>(exchange_bytes(&offered, sizeof(T)));
}

}  // namespace tempo9::backend::gpu::emulation
