#include "backend/cuda/cuda_device.h"

#include <cstdio>
#include <cstdlib>

#include "backend/cuda/cuda_stream.h"
#include "backend/gpu/operations.h"

namespace tempo9::backend::cuda {
namespace {

// A device that has no memory for a stream or a table of some kilobytes cannot be used at all.
template <class T>
std::unique_ptr<T> made_or_abort(Result<std::unique_ptr<T>> made) {
  if (made) return std::move(*made);
  std::fprintf(stderr, "tempo9: %s\n", made.error().message.c_str());
  std::abort();
}

class CudaDevice final : public Device {
 public:
  static Result<std::unique_ptr<Device>> create(int index, Variant variant) {
    cudaDeviceProp properties{};
    TRY(check(cudaGetDeviceProperties(&properties, index), "asking for the GPU's properties"));
    std::unique_ptr<CudaDevice> device(new CudaDevice(variant));
    TRY_ASSIGN(device->memory_, CudaMemory::create(index));
    TRY_ASSIGN(device->work_.matrices_read, CudaBuffer::allocate(*device->memory_, sizeof(uint64_t)));
    device->description_ =
        fmt::format("cuda:{} ({}, compute capability {}.{}, {} MiB)", index, properties.name,
                    properties.major, properties.minor, properties.totalGlobalMem >> 20);
    return device;
  }

  std::string_view name() const override { return "cuda"; }
  std::string description() const override { return description_; }

  Result<std::unique_ptr<Buffer>> allocate(size_t bytes) override {
    return CudaBuffer::allocate(*memory_, bytes);
  }
  Result<std::unique_ptr<HostMemory>> allocate_host(size_t bytes) override {
    memory_->use();
    return allocate_pinned(bytes);
  }
  Result<std::unique_ptr<Weight>> load_weight(const WeightSource& source) override {
    return CudaWeight::load(*memory_, source, variant_.tensor_cores);
  }
  std::unique_ptr<SlabTable> create_slab_table(int capacity) override {
    return made_or_abort(CudaSlabTable::create(*memory_, capacity));
  }
  std::unique_ptr<Stream> create_stream() override {
    return made_or_abort(CudaStream::create(*memory_, work_));
  }

  Result<size_t> kv_layer_bytes(const KvShape& shape) const override { return gpu::kv_layer_bytes(shape); }
  bool supports(OpKind) const override { return true; }
  size_t scratch_bytes() const override { return work_.scratch_bytes.load(std::memory_order_relaxed); }
  WorkCounters counters() const override {
    WorkCounters counters{.operations = work_.operations.load(std::memory_order_relaxed)};
    const auto read =
        memory_->read(&counters.expert_matrices, work_.matrices_read->address(), sizeof(uint64_t));
    if (!read) counters.expert_matrices = 0;
    for (size_t i = 0; i < work_.nanoseconds.size(); ++i)
      counters.nanoseconds[i] = work_.nanoseconds[i].load(std::memory_order_relaxed);
    return counters;
  }
  std::optional<uint64_t> free_bytes() const override { return memory_->free_bytes(); }

 private:
  explicit CudaDevice(Variant variant) : variant_(variant) {
    work_.tensor_cores = variant.tensor_cores;
    work_.timed = variant.timed;
  }

  const Variant variant_;
  std::unique_ptr<CudaMemory> memory_;
  Work work_;
  std::string description_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_device(int index, Variant variant) {
  TRY(check_device(index));
  return CudaDevice::create(index, variant);
}

}  // namespace tempo9::backend::cuda
