#include "backend/cpu/cpu_kernels.h"

#include "backend/cpu/isa.h"
#include "backend/cpu/operations.h"
#include "backend/cpu/panel_weight.h"

namespace tempo9::backend {
namespace {

constexpr int kMostHeadSize = 1024;

class CpuKernels final : public HostKernels {
 public:
  CpuKernels(const cpu::Kernels& kernels, int threads) : kernels_(kernels), pool_(threads) {}

  std::string description() const override {
    return fmt::format("{}, {} thread{}", kernels_.name, pool_.threads(), pool_.threads() == 1 ? "" : "s");
  }
  bool supports(OpKind) const override { return true; }

  void run(const Op& op) override {
    cpu::Context context{kernels_, pool_, scratch_, attention_plan_, expert_groups_, expert_matrices_};
    std::visit([&](const auto& operation) { cpu::run(operation, context); }, op);
  }

  Result<std::unique_ptr<Weight>> load_weight(const WeightSource& source) override {
    TRY_ASSIGN(std::unique_ptr<Weight> weight, cpu::PanelWeight::load(source, arena_, pool_.threads()));
    return weight;
  }

  Result<size_t> kv_layer_bytes(const KvShape& shape) const override {
    for (const int size : {shape.key_size, shape.value_size})
      if (size <= 0 || size % 16 != 0 || size > kMostHeadSize)
        return fail(ErrorCode::kUnsupported,
                    "the cpu device needs heads of a multiple of 16 up to {} elements, not {}", kMostHeadSize,
                    size);
    return static_cast<size_t>(shape.heads) * cpu::kv_head_bytes(shape);
  }

  size_t scratch_bytes() const override { return scratch_.bytes(); }

 private:
  const cpu::Kernels& kernels_;
  ThreadPool pool_;
  cpu::WeightArena arena_;
  cpu::Scratch scratch_;
  cpu::AttentionPlan attention_plan_;
  cpu::ExpertGroups expert_groups_;
};

}  // namespace

Result<std::unique_ptr<HostKernels>> make_cpu_kernels(const DeviceOptions& options) {
  TRY_ASSIGN(const cpu::Kernels* kernels, cpu::choose_kernels(options.isa));
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  return std::make_unique<CpuKernels>(*kernels, threads);
}

}  // namespace tempo9::backend
