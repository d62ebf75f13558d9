#include "backend/host/host_device.h"

#include "backend/host/host_stream.h"

namespace tempo9::backend {
namespace {

class OwnMemory final : public HostMemory {
 public:
  explicit OwnMemory(std::unique_ptr<HostBuffer> buffer)
      : HostMemory({buffer->data(), buffer->bytes()}), buffer_(std::move(buffer)) {}

 private:
  std::unique_ptr<HostBuffer> buffer_;
};

class HostDevice final : public Device {
 public:
  HostDevice(std::string name, std::unique_ptr<HostKernels> kernels, HostPolicy policy)
      : name_(std::move(name)), kernels_(std::move(kernels)), policy_(policy) {}

  std::string_view name() const override { return name_; }
  std::string description() const override { return fmt::format("{} ({})", name_, kernels_->description()); }

  Result<std::unique_ptr<Buffer>> allocate(size_t bytes) override {
    std::unique_ptr<Buffer> buffer = HostBuffer::allocate(bytes);
    if (buffer == nullptr)
      return fail(ErrorCode::kOutOfMemory, "no memory for a buffer of {} bytes on {}", bytes, name_);
    return buffer;
  }
  Result<std::unique_ptr<HostMemory>> allocate_host(size_t bytes) override {
    std::unique_ptr<HostBuffer> buffer = HostBuffer::allocate(bytes);
    if (buffer == nullptr) return fail(ErrorCode::kOutOfMemory, "no memory for {} bytes", bytes);
    return std::make_unique<OwnMemory>(std::move(buffer));
  }
  Result<std::unique_ptr<Weight>> load_weight(const WeightSource& source) override {
    return kernels_->load_weight(source);
  }
  std::unique_ptr<SlabTable> create_slab_table(int capacity) override {
    return std::make_unique<HostSlabTable>(capacity);
  }
  std::unique_ptr<Stream> create_stream() override {
    return std::make_unique<HostStream>(*kernels_, turn_, policy_);
  }

  Result<size_t> kv_layer_bytes(const KvShape& shape) const override {
    return kernels_->kv_layer_bytes(shape);
  }
  bool supports(OpKind kind) const override { return kernels_->supports(kind); }
  size_t scratch_bytes() const override { return kernels_->scratch_bytes(); }
  WorkCounters counters() const override { return kernels_->counters(); }
  bool has_long_steps() const override { return true; }

 private:
  std::string name_;
  std::unique_ptr<HostKernels> kernels_;
  HostPolicy policy_;
  std::mutex turn_;
};

}  // namespace

std::unique_ptr<Device> make_host_device(std::string name, std::unique_ptr<HostKernels> kernels,
                                         HostPolicy policy) {
  return std::make_unique<HostDevice>(std::move(name), std::move(kernels), policy);
}

}  // namespace tempo9::backend
