#include "backend/cuda/pinned.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "backend/cuda/cuda_api.h"

namespace tempo9::backend::cuda {
namespace {
constexpr size_t kLeastBytes = 4096;

class OwnPinned final : public HostMemory {
 public:
  OwnPinned(PinnedMemory memory, size_t bytes)
      : HostMemory({memory.data(), bytes}), memory_(std::move(memory)) {}

 private:
  PinnedMemory memory_;
};

}  // namespace

PinnedMemory::~PinnedMemory() {
  if (data_ != nullptr) cudaFreeHost(data_);
}

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Status PinnedMemory::reserve(size_t bytes) {
  if (bytes <= bytes_) return {};
  if (data_ != nullptr) cudaFreeHost(data_);
  data_ = nullptr;
  bytes_ = 0;
  void* found = nullptr;
  const size_t wanted = std::max(kLeastBytes, std::bit_ceil(bytes));
  TRY(check(cudaHostAlloc(&found, wanted, cudaHostAllocDefault), "taking memory of the host"));
  data_ = static_cast<std::byte*>(found);
  bytes_ = wanted;
  return {};
}

Result<std::unique_ptr<HostMemory>> allocate_pinned(size_t bytes) {
  PinnedMemory memory;
  TRY(memory.reserve(bytes));
  return std::make_unique<OwnPinned>(std::move(memory), bytes);
}

bool is_pinned(const std::byte* place) {
  cudaPointerAttributes attributes{};
  return cudaPointerGetAttributes(&attributes, place) == cudaSuccess && attributes.type == cudaMemoryTypeHost;
}

}  // namespace tempo9::backend::cuda
