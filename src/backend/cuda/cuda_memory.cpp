#include "backend/cuda/cuda_memory.h"

#include "base/check.h"

namespace tempo9::backend::cuda {
namespace {

// What the driver maps at once.
constexpr size_t kGranularity = 2 << 20;

size_t mapped_bytes(size_t bytes) {
  return (bytes + kGranularity - 1) / kGranularity * kGranularity;
}

bool is_mapped(size_t bytes) {
  return bytes >= kGranularity;
}

}  // namespace

Result<std::unique_ptr<CudaMemory>> CudaMemory::create(int device) {
  std::unique_ptr<CudaMemory> memory(new CudaMemory(device));
  TRY(check(choose(device), "choosing the device"));
  TRY(check(cudaFree(nullptr), "opening the device"));
  TRY_ASSIGN(memory->virtual_memory_, find_virtual_memory());
  TRY(check(cudaStreamCreateWithFlags(&memory->stream_, cudaStreamNonBlocking), "making a stream"));
  return memory;
}

// Asking the runtime each time would cost as much as the rest of a launch.
cudaError_t CudaMemory::choose(int device) {
  static thread_local int chosen = -1;
  if (chosen == device) return cudaSuccess;
  const cudaError_t result = cudaSetDevice(device);
  if (result == cudaSuccess) chosen = device;
  return result;
}

CudaMemory::~CudaMemory() {
  use();
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

tl::unexpected<Error> CudaMemory::out_of_memory(size_t bytes) const {
  return fail(ErrorCode::kOutOfMemory, "no memory for {} bytes on cuda:{}, of whose memory {} bytes are free",
              bytes, device_, free_bytes());
}

Result<std::byte*> CudaMemory::map(size_t bytes) {
  const VirtualMemory& v = virtual_memory_;
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp kind{};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device_}};
  const CUmemAccessDesc access = {kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  if (v.reserve(&address, bytes, 0, 0, 0) != CUDA_SUCCESS) return out_of_memory(bytes);
  if (v.create(&handle, bytes, &kind, 0) != CUDA_SUCCESS) {
    v.free_range(address, bytes);
    return out_of_memory(bytes);
  }
  const bool mapped = v.map(address, bytes, 0, handle, 0) == CUDA_SUCCESS;
  const bool usable = mapped && v.set_access(address, bytes, &access, 1) == CUDA_SUCCESS;
  v.release(handle);  // the mapping keeps it
  if (usable) return reinterpret_cast<std::byte*>(address);
  if (mapped) v.unmap(address, bytes);
  v.free_range(address, bytes);
  return out_of_memory(bytes);
}

Result<std::byte*> CudaMemory::take(size_t bytes) {
  use();
  std::byte* address = nullptr;
  if (is_mapped(bytes)) {
    TRY_ASSIGN(address, map(mapped_bytes(bytes)));
  } else {
    void* found = nullptr;
    if (cudaMalloc(&found, bytes == 0 ? 1 : bytes) != cudaSuccess) {
      cudaGetLastError();  // it would be reported again
      return out_of_memory(bytes);
    }
    address = static_cast<std::byte*>(found);
  }
  TRY(check(cudaMemsetAsync(address, 0, bytes, stream_), "clearing memory"));
  TRY(check(cudaStreamSynchronize(stream_), "clearing memory"));
  return address;
}

void CudaMemory::give_back(std::byte* address, size_t bytes) {
  use();
  if (!is_mapped(bytes)) {
    cudaFree(address);
    return;
  }
  const auto range = reinterpret_cast<CUdeviceptr>(address);
  virtual_memory_.unmap(range, mapped_bytes(bytes));
  virtual_memory_.free_range(range, mapped_bytes(bytes));
}

Status CudaMemory::write(std::byte* target, const void* source, size_t bytes) {
  use();
  TRY(check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyHostToDevice, stream_), "copying to the GPU"));
  return check(cudaStreamSynchronize(stream_), "copying to the GPU");
}

Status CudaMemory::read(void* target, const std::byte* source, size_t bytes) {
  use();
  TRY(check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the GPU"));
  return check(cudaStreamSynchronize(stream_), "copying from the GPU");
}

uint64_t CudaMemory::free_bytes() const {
  use();
  size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
  return free;
}

Result<std::unique_ptr<CudaBuffer>> CudaBuffer::allocate(CudaMemory& memory, size_t bytes) {
  TRY_ASSIGN(std::byte* const address, memory.take(bytes));
  return std::unique_ptr<CudaBuffer>(new CudaBuffer(memory, address, bytes));
}

Result<std::unique_ptr<CudaSlabTable>> CudaSlabTable::create(CudaMemory& memory, int capacity) {
  TRY_ASSIGN(auto entries, CudaBuffer::allocate(memory, static_cast<size_t>(capacity) * sizeof(std::byte*)));
  return std::unique_ptr<CudaSlabTable>(new CudaSlabTable(memory, std::move(entries), capacity));
}

// An error here is one that every later call of the runtime reports too.
void CudaSlabTable::set(int index, Buffer* slab) {
  CHECK(index >= 0 && index < capacity_);
  std::byte* address = slab == nullptr ? nullptr : static_cast<CudaBuffer*>(slab)->address();
  static_cast<void>(memory_.write(entries_->address() + static_cast<size_t>(index) * sizeof address, &address,
                                  sizeof address));
}

}  // namespace tempo9::backend::cuda
