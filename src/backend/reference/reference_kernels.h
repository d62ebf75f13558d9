// The meaning of every operation: scalar f32, one thread, weights decoded exactly, activations never rounded.
// Complete by rule.
#pragma once
#include <memory>

#include "backend/host/host_kernels.h"

namespace tempo9::backend {

std::unique_ptr<HostKernels> make_reference_kernels();

namespace reference {

// The file's own rows, copied.
class ReferenceWeight final : public Weight {
 public:
  explicit ReferenceWeight(const WeightSource& source)
      : Weight(source.format, source.rows, source.columns, source.count),
        bytes_(source.bytes.begin(), source.bytes.end()) {}
  size_t resident_bytes() const override { return bytes_.size(); }
  void decode_row(int row, float* out) const;  // row: of the whole stack

 private:
  std::vector<uint8_t> bytes_;
};

void run(const EmbedRows& op);
void run(const RmsNorm& op);
void run(const Linear& op);
void run(const RopeAngles& op);
void run(const Rope& op);
void run(const KvWrite& op);
void run(const Attention& op);
void run(const GatherRows& op);
void run(const Softcap& op);
void run(const RouteTopK& op);
void run(const ExpertLinear& op);
void run(const CombineExperts& op);
void run(const CopyPages& op);
void run(const CausalConv& op);
void run(const GatedDelta& op);

// sum_k a[k] * b[k] in sixteen interleaved partial sums: near in error to a pairwise sum, and the compiler
// may use vectors for it.
float dot(const float* a, const float* b, int n);
float activate(Activation activation, float x);
float activate_gated(Activation activation, float gate, float x);

// Makes row `row` of a linear operation's input.
void prepare_row(const LinearInput& input, int row, float* out);

// Bytes of one layer's part of a page: 64 tokens, each the keys of all heads, then the values of all heads.
size_t kv_layer_bytes(const KvShape& shape);

}  // namespace reference
}  // namespace tempo9::backend
