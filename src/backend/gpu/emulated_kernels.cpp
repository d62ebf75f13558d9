#include "backend/gpu/emulated_kernels.h"

#include <cstdio>
#include <cstdlib>

#include "backend/gpu/dialect/host.h"
#include "backend/gpu/kernels/all.h"
#include "backend/gpu/operations.h"

namespace tempo9::backend::gpu {
namespace {

class FileWeight final : public Weight {
 public:
  FileWeight(const WeightSource& source, std::unique_ptr<HostBuffer> rows)
      : Weight(source.format, source.rows, source.columns, source.count), rows_(std::move(rows)) {
    std::memcpy(rows_->data(), source.bytes.data(), source.bytes.size());
  }
  size_t resident_bytes() const override { return rows_->bytes(); }
  const std::byte* data() const { return rows_->data(); }

 private:
  std::unique_ptr<HostBuffer> rows_;
};

constexpr emulation::Kernel kKernels[] = {
#define GPU_KERNEL_ENTRY(name, Args) name,
    GPU_KERNELS(GPU_KERNEL_ENTRY)
#undef GPU_KERNEL_ENTRY
};

class EmulatedKernels final : public HostKernels, private Launcher {
 public:
  EmulatedKernels(std::string name, emulation::Order order) : name_(std::move(name)), order_(order) {}

  std::string description() const override { return "kernels of a GPU, emulated, threads " + name_; }
  bool supports(OpKind) const override { return true; }
  void run(const Op& op) override {
    run_operation(op, *this);
    expert_matrices_ = read_;
  }
  Result<std::unique_ptr<Weight>> load_weight(const WeightSource& source) override {
    TRY(check_weight(source));
    auto rows = HostBuffer::allocate(source.bytes.size());
    if (rows == nullptr)
      return fail(ErrorCode::kOutOfMemory, "no memory for a weight of {} bytes", source.bytes.size());
    return std::make_unique<FileWeight>(source, std::move(rows));
  }
  Result<size_t> kv_layer_bytes(const KvShape& shape) const override { return gpu::kv_layer_bytes(shape); }
  size_t scratch_bytes() const override { return scratch_ ? scratch_->bytes() : 0; }

 private:
  std::byte* address(const Buffer& buffer) const override {
    return static_cast<const HostBuffer&>(buffer).data();
  }
  const std::byte* rows(const Weight& weight) const override {
    return static_cast<const FileWeight&>(weight).data();
  }
  const void* slabs(const SlabTable& table) const override {
    return static_cast<const HostSlabTable&>(table).bases();
  }
  std::byte* matrices_read() override { return reinterpret_cast<std::byte*>(&read_); }
  std::byte* scratch(size_t bytes) override {
    if (scratch_bytes() < bytes) scratch_ = HostBuffer::allocate(bytes);
    return scratch_ ? scratch_->data() : nullptr;
  }
  // A kernel that breaks the rules is a programming error.
  void launch(KernelId kernel, LaunchGrid grid, const void* args, size_t) override {
    const auto ran = emulation::run(kKernels[static_cast<size_t>(kernel)], {grid.x, grid.y}, args, order_);
    if (ran) return;
    std::fprintf(stderr, "kernel %d: %s\n", static_cast<int>(kernel), ran.error().message.c_str());
    std::abort();
  }

  std::string name_;
  emulation::Order order_;
  std::unique_ptr<HostBuffer> scratch_;
  uint64_t read_ = 0;
};

}  // namespace

Result<std::unique_ptr<HostKernels>> make_emulated_kernels(const std::string& order) {
  if (order.empty() || order == "forward")
    return std::make_unique<EmulatedKernels>("forward", emulation::Order::kForward);
  if (order == "reverse") return std::make_unique<EmulatedKernels>(order, emulation::Order::kReverse);
  if (order == "shuffled") return std::make_unique<EmulatedKernels>(order, emulation::Order::kShuffled);
  return fail(ErrorCode::kInvalidArgument, "unknown order '{}'; known are forward, reverse, shuffled", order);
}

}  // namespace tempo9::backend::gpu
