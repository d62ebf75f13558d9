// `qwen3`, `qwen3moe`, and the text parts of `qwen3vl` and `qwen3vlmoe`. Norms of each query and key head
// before rotation, split rotary pairs, SiLU-gated feed-forward or experts. The VL models turn frequencies by
// one of three positions (time, row, column) of a token: for text all three are the same. Qwen team,
// arXiv:2505.09388; key and tensor names: gguf-py of github.com/ggml-org/llama.cpp.
#include <cmath>

#include "model/blocks/mlp.h"
#include "model/blocks/moe.h"
#include "model/decoder.h"

namespace tempo9::model {
namespace {

using namespace backend;

struct Layer {
  AttentionWeights attention;
  MlpWeights mlp;  // dense models
  MoeWeights moe;  // models with experts
};

class Qwen3 final : public Decoder {
 public:
  Qwen3(TransformerConfig config, RopeScaling scaling, MoeShape moe, std::vector<int32_t> axes)
      : Decoder(config), scaling_(scaling), moe_(moe), axis_of_frequency_(std::move(axes)) {
    layer_count_ = config.layers;
    shape_ = {.query_heads = config.query_heads,
              .kv_heads = config.kv_heads,
              .head_size = config.head_size,
              .scale = 1.0f / std::sqrt(static_cast<float>(config.head_size)),
              .rope_pairs = RopePairs::kSplit};
  }

 private:
  bool has_experts() const { return moe_.experts != 0; }

  void list_tensors(const gguf::File& file, std::vector<TensorSlot>& slots) override {
    const auto u = [](int n) { return static_cast<uint64_t>(n); };
    const uint64_t E = u(config_.embedding), F = u(config_.feed_forward);
    layers_.resize(static_cast<size_t>(layer_count_));
    for (int i = 0; i < layer_count_; ++i) {
      LayerSlots layer(slots, i);
      Layer& w = layers_[static_cast<size_t>(i)];
      add_attention_slots(layer, file, config_.embedding, shape_, w.attention, {});
      layer.add("attn_q_norm.weight", {u(config_.head_size)}, &w.attention.query_norm);
      layer.add("attn_k_norm.weight", {u(config_.head_size)}, &w.attention.key_norm);
      layer.add("ffn_norm.weight", {E}, has_experts() ? &w.moe.norm : &w.mlp.norm);
      if (has_experts()) {
        add_moe_slots(layer, file, config_.embedding, moe_, w.moe);
        continue;
      }
      layer.add("ffn_gate.weight", {E, F}, &w.mlp.gate);
      layer.add("ffn_up.weight", {E, F}, &w.mlp.up);
      layer.add("ffn_down.weight", {F, E}, &w.mlp.down);
    }
  }

  Status make_frequencies(Device& device) override {
    const RopeFrequencies frequencies =
        scaled_rope_frequencies(config_.rope_theta, config_.rope_dimensions, scaling_);
    magnitude_ = frequencies.magnitude;
    TRY_ASSIGN(frequencies_, make_device_vector(device, frequencies.values));
    if (axis_of_frequency_.empty()) return {};
    TRY_ASSIGN(axes_, make_device_vector(device, std::as_bytes(std::span(axis_of_frequency_))));
    return {};
  }

  Result<std::vector<kv::LayerLayout>> lay_out_kv(const Device& device) override {
    return attention_layouts(device, [this](int) { return shape_; });
  }

  void add_buffers(const LoadOptions&) override {
    workspace_.add(angles_, max_rows_, config_.rope_dimensions);
    add_attention_buffers(shape_.query_heads * shape_.head_size, shape_.kv_heads * shape_.head_size, false,
                          false);
    if (has_experts()) {
      add_moe_buffers(workspace_, moe_buffers_, moe_, max_rows_, config_.embedding);
    } else {
      workspace_.add(mlp_.gate, max_rows_, config_.feed_forward);
      workspace_.add(mlp_.up, max_rows_, config_.feed_forward);
    }
  }

  void make_angles(Stream& stream, const StepInput& step) override {
    const View axes = step.positions.columns > 1 ? axes_.view : View{};
    stream.submit(
        RopeAngles{step.positions, frequencies_.view, axes, angles_.first_rows(step.rows), magnitude_});
  }

  void run_layer(Stream& stream, const StepInput& step, int i, const View& hidden) override {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    const View angles = angles_.first_rows(step.rows);
    attention_block(stream, step, shape_, layer.attention, config_.norm_epsilon, {angles, angles},
                    kv_layout_.layers[static_cast<size_t>(i)], kv_type_, attention_, hidden);
    if (has_experts())
      moe_block(stream, moe_, layer.moe, config_.norm_epsilon, moe_buffers_, hidden);
    else
      mlp_block(stream, layer.mlp, config_.norm_epsilon, Activation::kSilu, mlp_, hidden);
  }

  const RopeScaling scaling_;
  const MoeShape moe_;
  const std::vector<int32_t> axis_of_frequency_;
  float magnitude_ = 1.0f;
  AttentionShape shape_;
  std::vector<Layer> layers_;
  DeviceVector frequencies_, axes_;
  View angles_;
  MlpBuffers mlp_;
  MoeBuffers moe_buffers_;
};

Result<std::unique_ptr<Decoder>> make(const gguf::File& file, std::string_view prefix, bool experts,
                                      bool three_positions) {
  TRY_ASSIGN(const TransformerConfig config, read_transformer_config(file, prefix));
  TRY_ASSIGN(const RopeScaling scaling, read_rope_scaling(file.metadata(), prefix));
  MoeShape moe;
  if (experts) {
    TRY_ASSIGN(moe, read_moe_shape(file.metadata(), prefix));
  }
  std::vector<int32_t> axes;
  if (three_positions) {
    TRY_ASSIGN(axes, read_rope_axes(file.metadata(), prefix, config.rope_dimensions / 2));
  }
  return std::make_unique<Qwen3>(config, scaling, moe, std::move(axes));
}

}  // namespace

Result<std::unique_ptr<Decoder>> make_qwen3(const gguf::File& file) {
  return make(file, "qwen3", false, false);
}
Result<std::unique_ptr<Decoder>> make_qwen3moe(const gguf::File& file) {
  return make(file, "qwen3moe", true, false);
}
Result<std::unique_ptr<Decoder>> make_qwen3vl(const gguf::File& file) {
  return make(file, "qwen3vl", false, true);
}
Result<std::unique_ptr<Decoder>> make_qwen3vlmoe(const gguf::File& file) {
  return make(file, "qwen3vlmoe", true, true);
}

}  // namespace tempo9::model
