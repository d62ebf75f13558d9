// Memory of one GPU. Large pieces (slabs of KV pages, weights) are mapped through virtual memory, so that
// taking and giving back costs tens of microseconds and stops no kernel; small ones come from the runtime.
// Threads: any.
#pragma once
#include <memory>

#include "backend/cuda/cuda_api.h"
#include "backend/device.h"

namespace tempo9::backend::cuda {

class CudaMemory {
 public:
  static Result<std::unique_ptr<CudaMemory>> create(int device);
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  // Zeroed.
  Result<std::byte*> take(size_t bytes);
  void give_back(std::byte* address, size_t bytes);
  // Copies to the device, before the call returns; later work of any stream finds it there.
  Status write(std::byte* target, const void* source, size_t bytes);
  Status read(void* target, const std::byte* source, size_t bytes);
  uint64_t free_bytes() const;
  // Makes the device the calling thread's.
  void use() const { choose(device_); }

 private:
  explicit CudaMemory(int device) : device_(device) {}
  static cudaError_t choose(int device);
  Result<std::byte*> map(size_t bytes);
  tl::unexpected<Error> out_of_memory(size_t bytes) const;

  const int device_;
  VirtualMemory virtual_memory_;
  cudaStream_t stream_ = nullptr;
};

class CudaBuffer final : public Buffer {
 public:
  static Result<std::unique_ptr<CudaBuffer>> allocate(CudaMemory& memory, size_t bytes);
  ~CudaBuffer() override { memory_.give_back(address_, bytes()); }
  std::byte* address() const { return address_; }

 private:
  CudaBuffer(CudaMemory& memory, std::byte* address, size_t bytes)
      : Buffer(bytes), memory_(memory), address_(address) {}
  CudaMemory& memory_;
  std::byte* address_;
};

class CudaSlabTable final : public SlabTable {
 public:
  static Result<std::unique_ptr<CudaSlabTable>> create(CudaMemory& memory, int capacity);
  void set(int index, Buffer* slab) override;
  int capacity() const override { return capacity_; }
  const void* address() const { return entries_->address(); }

 private:
  CudaSlabTable(CudaMemory& memory, std::unique_ptr<CudaBuffer> entries, int capacity)
      : memory_(memory), entries_(std::move(entries)), capacity_(capacity) {}
  CudaMemory& memory_;
  std::unique_ptr<CudaBuffer> entries_;
  const int capacity_;
};

}  // namespace tempo9::backend::cuda
