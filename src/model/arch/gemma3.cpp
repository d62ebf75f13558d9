// `gemma3` (text). Norms before and behind each block, norms of query and key heads, five layers with a
// window for each full one, two rotary bases, GELU-gated feed-forward, embeddings scaled by the root of their
// size. Gemma team, arXiv:2503.19786; key and tensor names: gguf-py of github.com/ggml-org/llama.cpp.
#include <cmath>

#include "model/blocks/mlp.h"
#include "model/decoder.h"

namespace tempo9::model {
namespace {

using namespace backend;

constexpr double kLocalRopeBase = 10000.0;  // of the layers with a window
constexpr int kFullLayerInterval = 6;       // every sixth layer sees everything
constexpr int kLayersOf27B = 62;            // the only size whose scale is not the root of the head size

struct Layer {
  AttentionWeights attention;
  MlpWeights mlp;
};

class Gemma3 final : public Decoder {
 public:
  Gemma3(TransformerConfig config, RopeScaling scaling, int window) : Decoder(config), scaling_(scaling) {
    layer_count_ = config.layers;
    embedding_scale_ = std::sqrt(static_cast<float>(config.embedding));
    const int scaled =
        config.layers == kLayersOf27B ? config.embedding / config.query_heads : config.head_size;
    full_ = {.query_heads = config.query_heads,
             .kv_heads = config.kv_heads,
             .head_size = config.head_size,
             .scale = 1.0f / std::sqrt(static_cast<float>(scaled)),
             .rope_pairs = RopePairs::kSplit};
    sliding_ = full_;
    sliding_.window = window;
  }

 private:
  bool is_full(int layer) const { return (layer + 1) % kFullLayerInterval == 0; }
  const AttentionShape& shape_of(int layer) const { return is_full(layer) ? full_ : sliding_; }

  void list_tensors(const gguf::File& file, std::vector<TensorSlot>& slots) override {
    const auto u = [](int n) { return static_cast<uint64_t>(n); };
    const uint64_t E = u(config_.embedding), F = u(config_.feed_forward), D = u(config_.head_size);
    layers_.resize(static_cast<size_t>(layer_count_));
    for (int i = 0; i < layer_count_; ++i) {
      LayerSlots layer(slots, i);
      Layer& w = layers_[static_cast<size_t>(i)];
      add_attention_slots(layer, file, config_.embedding, full_, w.attention, {});
      layer.add("attn_q_norm.weight", {D}, &w.attention.query_norm);
      layer.add("attn_k_norm.weight", {D}, &w.attention.key_norm);
      layer.add("post_attention_norm.weight", {E}, &w.attention.post_norm);
      layer.add("ffn_norm.weight", {E}, &w.mlp.norm);
      layer.add("ffn_gate.weight", {E, F}, &w.mlp.gate);
      layer.add("ffn_up.weight", {E, F}, &w.mlp.up);
      layer.add("ffn_down.weight", {F, E}, &w.mlp.down);
      layer.add("post_ffw_norm.weight", {E}, &w.mlp.post_norm);
    }
  }

  Status make_frequencies(Device& device) override {
    TRY_ASSIGN(
        full_frequencies_,
        make_device_vector(
            device, scaled_rope_frequencies(config_.rope_theta, config_.rope_dimensions, scaling_).values));
    TRY_ASSIGN(sliding_frequencies_,
               make_device_vector(device, rope_frequencies(kLocalRopeBase, config_.rope_dimensions)));
    return {};
  }

  Result<std::vector<kv::LayerLayout>> lay_out_kv(const Device& device) override {
    return attention_layouts(device, [this](int layer) { return shape_of(layer); });
  }

  void add_buffers(const LoadOptions&) override {
    workspace_.add(full_angles_, max_rows_, config_.rope_dimensions);
    workspace_.add(sliding_angles_, max_rows_, config_.rope_dimensions);
    add_attention_buffers(full_.query_heads * full_.head_size, full_.kv_heads * full_.head_size, false, true);
    workspace_.add(mlp_.gate, max_rows_, config_.feed_forward);
    workspace_.add(mlp_.up, max_rows_, config_.feed_forward);
    workspace_.add(mlp_.result, max_rows_, config_.embedding);
  }

  void make_angles(Stream& stream, const StepInput& step) override {
    stream.submit(RopeAngles{step.positions, full_frequencies_.view, {}, full_angles_.first_rows(step.rows)});
    stream.submit(
        RopeAngles{step.positions, sliding_frequencies_.view, {}, sliding_angles_.first_rows(step.rows)});
  }

  void run_layer(Stream& stream, const StepInput& step, int i, const View& hidden) override {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    const View angles = (is_full(i) ? full_angles_ : sliding_angles_).first_rows(step.rows);
    attention_block(stream, step, shape_of(i), layer.attention, config_.norm_epsilon, {angles, angles},
                    kv_layout_.layers[static_cast<size_t>(i)], kv_type_, attention_, hidden);
    mlp_block(stream, layer.mlp, config_.norm_epsilon, Activation::kGeluTanh, mlp_, hidden);
  }

  const RopeScaling scaling_;
  AttentionShape full_, sliding_;
  std::vector<Layer> layers_;
  DeviceVector full_frequencies_, sliding_frequencies_;
  View full_angles_, sliding_angles_;
  MlpBuffers mlp_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> make_gemma3(const gguf::File& file) {
  TRY_ASSIGN(const TransformerConfig config, read_transformer_config(file, "gemma3"));
  TRY_ASSIGN(const RopeScaling scaling, read_rope_scaling(file.metadata(), "gemma3"));
  TRY_ASSIGN(const int window, read_window(file.metadata(), "gemma3"));
  return std::make_unique<Gemma3>(config, scaling, window);
}

}  // namespace tempo9::model
