// `gpt-oss`: experts in MXFP4, biases everywhere, attention sinks, a window on every even layer, YaRN whose
// boundaries are not rounded. OpenAI, "gpt-oss-120b & gpt-oss-20b Model Card", arXiv:2508.10925; key and
// tensor names: gguf-py of github.com/ggml-org/llama.cpp.
#include <cmath>

#include "model/blocks/moe.h"
#include "model/decoder.h"

namespace tempo9::model {
namespace {

using namespace backend;

struct Layer {
  AttentionWeights attention;
  MoeWeights moe;
};

class GptOss final : public Decoder {
 public:
  GptOss(TransformerConfig config, RopeScaling scaling, MoeShape moe, int window)
      : Decoder(config), scaling_(scaling), moe_(moe) {
    layer_count_ = config.layers;
    moe_.activation = Activation::kClampedSwiglu;
    full_ = {.query_heads = config.query_heads,
             .kv_heads = config.kv_heads,
             .head_size = config.head_size,
             .scale = 1.0f / std::sqrt(static_cast<float>(config.head_size)),
             .rope_pairs = RopePairs::kSplit};
    sliding_ = full_;
    sliding_.window = window;
  }

 private:
  const AttentionShape& shape_of(int layer) const { return layer % 2 == 0 ? sliding_ : full_; }

  void list_tensors(const gguf::File& file, std::vector<TensorSlot>& slots) override {
    const auto u = [](int n) { return static_cast<uint64_t>(n); };
    const uint64_t X = u(moe_.experts);
    layers_.resize(static_cast<size_t>(layer_count_));
    for (int i = 0; i < layer_count_; ++i) {
      LayerSlots layer(slots, i);
      Layer& w = layers_[static_cast<size_t>(i)];
      add_attention_slots(layer, file, config_.embedding, full_, w.attention, {.biases = true});
      layer.add("attn_sinks.weight", {u(config_.query_heads)}, &w.attention.sinks);
      layer.add("post_attention_norm.weight", {u(config_.embedding)},
                &w.moe.norm);  // in front of the experts, despite its name
      add_moe_slots(layer, file, config_.embedding, moe_, w.moe);
      layer.add("ffn_gate_inp.bias", {X}, &w.moe.router_bias);
      layer.add("ffn_gate_exps.bias", {u(moe_.feed_forward), X}, &w.moe.gate_bias);
      layer.add("ffn_up_exps.bias", {u(moe_.feed_forward), X}, &w.moe.up_bias);
      layer.add("ffn_down_exps.bias", {u(config_.embedding), X}, &w.moe.down_bias);
    }
  }

  Status make_frequencies(Device& device) override {
    const RopeFrequencies frequencies =
        scaled_rope_frequencies(config_.rope_theta, config_.rope_dimensions, scaling_);
    magnitude_ = frequencies.magnitude;
    TRY_ASSIGN(frequencies_, make_device_vector(device, frequencies.values));
    return {};
  }

  Result<std::vector<kv::LayerLayout>> lay_out_kv(const Device& device) override {
    return attention_layouts(device, [this](int layer) { return shape_of(layer); });
  }

  void add_buffers(const LoadOptions&) override {
    workspace_.add(angles_, max_rows_, config_.rope_dimensions);
    add_attention_buffers(full_.query_heads * full_.head_size, full_.kv_heads * full_.head_size, false,
                          false);
    add_moe_buffers(workspace_, moe_buffers_, moe_, max_rows_, config_.embedding);
  }

  void make_angles(Stream& stream, const StepInput& step) override {
    stream.submit(
        RopeAngles{step.positions, frequencies_.view, {}, angles_.first_rows(step.rows), magnitude_});
  }

  void run_layer(Stream& stream, const StepInput& step, int i, const View& hidden) override {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    const View angles = angles_.first_rows(step.rows);
    attention_block(stream, step, shape_of(i), layer.attention, config_.norm_epsilon, {angles, angles},
                    kv_layout_.layers[static_cast<size_t>(i)], kv_type_, attention_, hidden);
    moe_block(stream, moe_, layer.moe, config_.norm_epsilon, moe_buffers_, hidden);
  }

  const RopeScaling scaling_;
  MoeShape moe_;
  float magnitude_ = 1.0f;
  AttentionShape full_, sliding_;
  std::vector<Layer> layers_;
  DeviceVector frequencies_;
  View angles_;
  MoeBuffers moe_buffers_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> make_gpt_oss(const gguf::File& file) {
  TRY_ASSIGN(const TransformerConfig config, read_transformer_config(file, "gpt-oss"));
  TRY_ASSIGN(RopeScaling scaling, read_rope_scaling(file.metadata(), "gpt-oss"));
  scaling.boundaries = RopeScaling::Boundaries::kFractional;
  TRY_ASSIGN(const MoeShape moe, read_moe_shape(file.metadata(), "gpt-oss"));
  TRY_ASSIGN(const int window, read_window(file.metadata(), "gpt-oss"));
  return std::make_unique<GptOss>(config, scaling, moe, window);
}

}  // namespace tempo9::model
