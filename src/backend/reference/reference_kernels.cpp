#include "backend/reference/reference_kernels.h"

namespace tempo9::backend {
namespace {

class ReferenceKernels final : public HostKernels {
 public:
  std::string description() const override { return "scalar f32"; }
  bool supports(OpKind) const override { return true; }
  void run(const Op& op) override {
    std::visit([](const auto& operation) { reference::run(operation); }, op);
    if (const auto* experts = std::get_if<ExpertLinear>(&op))  // each slot by itself
      expert_matrices_ +=
          static_cast<uint64_t>(experts->indices.rows * experts->indices.columns * experts->count);
  }
  Result<std::unique_ptr<Weight>> load_weight(const WeightSource& source) override {
    return std::make_unique<reference::ReferenceWeight>(source);
  }
  Result<size_t> kv_layer_bytes(const KvShape& shape) const override {
    return reference::kv_layer_bytes(shape);
  }
  size_t scratch_bytes() const override { return 0; }
};

}  // namespace

std::unique_ptr<HostKernels> make_reference_kernels() {
  return std::make_unique<ReferenceKernels>();
}

}  // namespace tempo9::backend
