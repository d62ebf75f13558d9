// `gemma4` (text, the dense models without per-layer embeddings). As Gemma 3, and: layers with a window and
// full layers differ in head size and key/value heads; value heads are normed and, in full layers, made from
// the key projection; the attention scale is 1; full layers rotate only the frequencies that
// rope_freqs.weight leaves; each layer scales the residual; logits are capped. Key and tensor names: gguf-py
// of github.com/ggml-org/llama.cpp.
#include <algorithm>
#include <cmath>

#include "model/blocks/mlp.h"
#include "model/decoder.h"

namespace tempo9::model {
namespace {

using namespace backend;

struct Layer {
  AttentionWeights attention;
  MlpWeights mlp;
  HostVector scale;
  AttentionShape shape;
  bool sliding = false;
};

// What the keys say beyond the common ones.
struct Keys {
  int window = 0;
  int sliding_head_size = 0;
  double sliding_rope_theta = 0;
  std::vector<bool> sliding;  // per layer
  std::vector<int64_t> kv_heads;
  double softcap = 0;
};

class Gemma4 final : public Decoder {
 public:
  Gemma4(TransformerConfig config, const Keys& keys) : Decoder(config), keys_(keys) {
    layer_count_ = config.layers;
    embedding_scale_ = std::sqrt(static_cast<float>(config.embedding));
    logit_softcap_ = static_cast<float>(keys.softcap);
    layers_.resize(static_cast<size_t>(layer_count_));
    for (size_t i = 0; i < layers_.size(); ++i) {
      layers_[i].sliding = keys.sliding[i];
      layers_[i].shape = {.query_heads = config.query_heads,
                          .kv_heads = static_cast<int>(keys.kv_heads[i]),
                          .head_size = keys.sliding[i] ? keys.sliding_head_size : config.head_size,
                          .scale = 1.0f,
                          .window = keys.sliding[i] ? keys.window : 0,
                          .rope_pairs = RopePairs::kSplit,
                          .norm_values = true};
    }
  }

 private:
  void list_tensors(const gguf::File& file, std::vector<TensorSlot>& slots) override {
    const auto u = [](int n) { return static_cast<uint64_t>(n); };
    const uint64_t E = u(config_.embedding), F = u(config_.feed_forward);
    slots.push_back({"rope_freqs.weight", {u(config_.head_size / 2)}, &rope_divisors_});
    for (int i = 0; i < layer_count_; ++i) {
      LayerSlots layer(slots, i);
      Layer& w = layers_[static_cast<size_t>(i)];
      const uint64_t D = u(w.shape.head_size);
      add_attention_slots(layer, file, config_.embedding, w.shape, w.attention, {.values = w.sliding});
      layer.add("attn_q_norm.weight", {D}, &w.attention.query_norm);
      layer.add("attn_k_norm.weight", {D}, &w.attention.key_norm);
      layer.add("post_attention_norm.weight", {E}, &w.attention.post_norm);
      layer.add("ffn_norm.weight", {E}, &w.mlp.norm);
      layer.add("ffn_gate.weight", {E, F}, &w.mlp.gate);
      layer.add("ffn_up.weight", {E, F}, &w.mlp.up);
      layer.add("ffn_down.weight", {F, E}, &w.mlp.down);
      layer.add("post_ffw_norm.weight", {E}, &w.mlp.post_norm);
      layer.add("layer_output_scale.weight", {1}, &w.scale, false);
    }
  }

  Status make_frequencies(Device& device) override {
    std::vector<float> full = rope_frequencies(config_.rope_theta, config_.head_size);
    for (size_t i = 0; i < rope_divisors_.size(); ++i) full[i] /= rope_divisors_[i];
    TRY_ASSIGN(full_frequencies_, make_device_vector(device, full));
    TRY_ASSIGN(sliding_frequencies_, make_device_vector(device, rope_frequencies(keys_.sliding_rope_theta,
                                                                                 keys_.sliding_head_size)));
    return {};
  }

  Result<std::vector<kv::LayerLayout>> lay_out_kv(const Device& device) override {
    return attention_layouts(device, [this](int layer) { return layers_[static_cast<size_t>(layer)].shape; });
  }

  void add_buffers(const LoadOptions&) override {
    workspace_.add(full_angles_, max_rows_, config_.head_size);
    workspace_.add(sliding_angles_, max_rows_, keys_.sliding_head_size);
    int queries = 0, keys = 0;
    for (const Layer& layer : layers_) {
      queries = std::max(queries, layer.shape.query_heads * layer.shape.head_size);
      keys = std::max(keys, layer.shape.kv_heads * layer.shape.head_size);
    }
    add_attention_buffers(queries, keys, false, true);
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
    const View angles = (layer.sliding ? sliding_angles_ : full_angles_).first_rows(step.rows);
    attention_block(stream, step, layer.shape, layer.attention, config_.norm_epsilon, {angles, angles},
                    kv_layout_.layers[static_cast<size_t>(i)], kv_type_, attention_, hidden);
    const float scale = layer.scale.empty() ? 1.0f : layer.scale[0];
    mlp_block(stream, layer.mlp, config_.norm_epsilon, Activation::kGeluTanh, mlp_, hidden, scale);
  }

  const Keys keys_;
  std::vector<Layer> layers_;
  HostVector rope_divisors_;
  DeviceVector full_frequencies_, sliding_frequencies_;
  View full_angles_, sliding_angles_;
  MlpBuffers mlp_;
};

// Parts of other Gemma 4 models that this file does not compute.
Status refuse_other_kinds(const gguf::Metadata& metadata) {
  for (const char* key : {"gemma4.attention.shared_kv_layers", "gemma4.embedding_length_per_layer_input",
                          "gemma4.expert_count"}) {
    TRY_ASSIGN(const uint64_t value, metadata.unsigned_integer_or(key, 0));
    if (value != 0)
      return fail(ErrorCode::kUnsupported, "{} is {}: this kind of Gemma 4 model is not supported", key,
                  value);
  }
  return {};
}

Result<Keys> read_keys(const gguf::Metadata& metadata, const TransformerConfig& config) {
  Keys keys;
  TRY_ASSIGN(keys.window, read_window(metadata, "gemma4"));
  TRY_ASSIGN(const uint64_t head_size, metadata.unsigned_integer_or("gemma4.attention.key_length_swa",
                                                                    static_cast<uint64_t>(config.head_size)));
  if (head_size == 0 || head_size > 1024 || head_size % 2 != 0)
    return fail(ErrorCode::kCorrupt, "gemma4.attention.key_length_swa is {}", head_size);
  keys.sliding_head_size = static_cast<int>(head_size);
  TRY_ASSIGN(keys.sliding_rope_theta, metadata.real_or("gemma4.rope.freq_base_swa", 10000.0));
  TRY_ASSIGN(keys.softcap, metadata.real_or("gemma4.final_logit_softcapping", 0.0));
  TRY_ASSIGN(keys.sliding, metadata.booleans("gemma4.attention.sliding_window_pattern"));
  TRY_ASSIGN(keys.kv_heads, read_kv_heads(metadata, "gemma4", config));
  if (keys.sliding.size() != static_cast<size_t>(config.layers))
    return fail(ErrorCode::kCorrupt, "gemma4.attention.sliding_window_pattern has {} entries for {} layers",
                keys.sliding.size(), config.layers);
  return keys;
}

}  // namespace

Result<std::unique_ptr<Decoder>> make_gemma4(const gguf::File& file) {
  TRY(refuse_other_kinds(file.metadata()));
  TRY_ASSIGN(const TransformerConfig config, read_transformer_config(file, "gemma4"));
  TRY_ASSIGN(const Keys keys, read_keys(file.metadata(), config));
  return std::make_unique<Gemma4>(config, keys);
}

}  // namespace tempo9::model
