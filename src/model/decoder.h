// What every architecture here has in common: embed tokens, make rotary angles, go through layers, norm,
// output matrix. An architecture derives from it and says what a layer is.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "model/architectures.h"
#include "model/blocks/attention.h"
#include "model/blocks/rope.h"
#include "model/config.h"
#include "model/weights.h"
#include "model/workspace.h"

namespace tempo9::model {

class Decoder : public Model {
 public:
  int vocabulary_size() const override { return config_.vocabulary; }
  int hidden_size() const override { return config_.embedding; }
  int context_length() const override { return config_.context; }
  const kv::Layout& kv_layout() const override { return kv_layout_; }
  size_t weight_bytes() const override { return store_.resident_bytes(); }
  size_t workspace_bytes() const override { return workspace_.bytes(); }
  int layer_count() const final { return layer_count_; }
  backend::View forward(backend::Stream& stream, const StepInput& step) final;
  Status prepare_lane(backend::Device& device, int lane) final { return workspace_.prepare(device, lane); }
  void begin(backend::Stream& stream, const StepInput& step) final;
  void advance(backend::Stream& stream, const StepInput& step, int layer) final;
  backend::View end(backend::Stream& stream, const StepInput& step) final;
  backend::View hidden(backend::Stream& stream, const StepInput& step) final;

  // Checks the file's tensors and loads them.
  Status load(const LoadContext& context);
  Status check(const gguf::File& file);

 protected:
  explicit Decoder(TransformerConfig config) : config_(config) {}

  // What an architecture adds. Called in this order while loading.
  virtual void list_tensors(const gguf::File& file, std::vector<TensorSlot>& slots) = 0;
  virtual Status make_frequencies(backend::Device& device) = 0;
  virtual Result<std::vector<kv::LayerLayout>> lay_out_kv(const backend::Device& device) = 0;
  virtual void add_buffers(const LoadOptions& options) = 0;
  // What it does in a step.
  virtual void make_angles(backend::Stream& stream, const StepInput& step) = 0;
  virtual void run_layer(backend::Stream& stream, const StepInput& step, int layer,
                         const backend::View& hidden) = 0;

  // The logits of the step's logit rows of `hidden`: norm, then `output` (absent: the model's own matrix). In
  // the workspace.
  backend::View logits_of(backend::Stream& stream, const StepInput& step, const backend::View& hidden,
                          const Vector& norm, const Matrix& output);
  // Keys and values of one layer with this attention, and of each layer of the trunk with its own.
  Result<kv::LayerLayout> attention_layout(const backend::Device& device, const AttentionShape& shape) const;
  Result<std::vector<kv::LayerLayout>> attention_layouts(
      const backend::Device& device, const std::function<AttentionShape(int layer)>& shape_of) const;
  // Workspace for attention of at most this many values of queries and keys.
  void add_attention_buffers(int queries, int keys, bool gated, bool post_norm);

  const TransformerConfig config_;
  float embedding_scale_ = 1.0f;
  float logit_softcap_ = 0.0f;
  backend::KvType kv_type_ = backend::KvType::kF16;
  int max_rows_ = 0;
  int layer_count_ = 0;  // of the trunk
  WeightStore store_;
  kv::Layout kv_layout_;
  Workspace workspace_;
  Matrix embedding_, output_;
  Vector output_norm_;
  AttentionBuffers attention_;
  backend::View hidden_;  // what the last layer left, until the next step

 private:
  std::vector<TensorSlot> slots(const gguf::File& file);
  backend::View last_, logits_, normed_;
};

// Queries, keys and values as three tensors or as one (attn_qkv), the output projection, a bias of each; the
// norm in front. `needs`: what must be there beyond the other matrices.
struct AttentionNeeds {
  bool values = true;  // their matrix; without it they are made from keys
  bool biases = false;
};
void add_attention_slots(LayerSlots& layer, const gguf::File& file, int embedding,
                         const AttentionShape& shape, AttentionWeights& weights, AttentionNeeds needs);

}  // namespace tempo9::model
