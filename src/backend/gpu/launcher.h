// What a GPU device offers so that the kernels of this folder can run on it, the emulation included.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backend/device.h"
#include "backend/gpu/kernels/list.h"

namespace tempo9::backend::gpu {

enum class KernelId : uint8_t {
#define GPU_KERNEL_ID(name, Args) name,
  GPU_KERNELS(GPU_KERNEL_ID)
#undef GPU_KERNEL_ID
};

struct LaunchGrid {
  uint32_t x = 1, y = 1;  // groups; y at most 65535
};

// Of one stream: launches follow each other in order. Addresses are the device's.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual std::byte* address(const Buffer& buffer) const = 0;
  // The rows of a weight as they stood in the file.
  virtual const std::byte* rows(const Weight& weight) const = 0;
  // The table's entries: an address each.
  virtual const void* slabs(const SlabTable& table) const = 0;
  // A uint64_t that counts matrices out of stacks that were read.
  virtual std::byte* matrices_read() = 0;
  // Memory for one operation, 256-byte aligned, valid until the next call. Null: there is none; the operation
  // is then left out, and whoever waits for the stream is told.
  virtual std::byte* scratch(size_t bytes) = 0;
  // The next launch needs nothing that the last one writes, nor writes what that reads.
  virtual void run_beside() {}
  // `args` is copied before the call returns.
  virtual void launch(KernelId kernel, LaunchGrid grid, const void* args, size_t bytes) = 0;
};

}  // namespace tempo9::backend::gpu
