// Working memory that grows to what the largest operation needed and is kept: no allocation in steady state.
#pragma once
#include <atomic>
#include <memory>

#include "backend/host/host_kernels.h"
#include "base/check.h"

namespace tempo9::backend::cpu {

class Scratch {
 public:
  // At least `bytes`, 64-byte aligned; what it held before is lost. Out of memory ends the process: there is
  // no way to go on without, and a step's rows are bounded by the scheduler.
  std::byte* reserve(size_t bytes) {
    if (bytes > this->bytes()) {
      memory_.reset();
      memory_ = HostBuffer::allocate(bytes + bytes / 4);
      CHECK(memory_ != nullptr);
      bytes_.store(memory_->bytes(), std::memory_order_relaxed);
    }
    return memory_ == nullptr ? nullptr : memory_->data();
  }
  // From any thread.
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::unique_ptr<HostBuffer> memory_;
  std::atomic<size_t> bytes_{0};
};

// Sizes in scratch memory keep the alignment.
constexpr size_t round_to_lines(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace tempo9::backend::cpu
