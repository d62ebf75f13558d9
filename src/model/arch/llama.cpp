// `llama`: Llama 2 and 3, TinyLlama, SmolLM2, Mistral 7B; `mistral3`: Ministral 3. Grouped queries,
// SiLU-gated feed-forward, tied or own output.
//   llama     adjacent rotary pairs. Llama 3.1's long-context scaling comes as divisors of the frequencies
//   (rope_freqs.weight) mistral3  the same with YaRN, and queries whose temperature grows with position
// Key and tensor names: gguf-py of github.com/ggml-org/llama.cpp. Touvron et al., arXiv:2307.09288; Llama
// team, arXiv:2407.21783.
#include <cmath>

#include "model/blocks/mlp.h"
#include "model/decoder.h"

namespace tempo9::model {
namespace {

using namespace backend;

struct Layer {
  AttentionWeights attention;
  MlpWeights mlp;
};

class Llama final : public Decoder {
 public:
  Llama(TransformerConfig config, RopeScaling scaling, double temperature)
      : Decoder(config), scaling_(scaling), temperature_(static_cast<float>(temperature)) {
    layer_count_ = config.layers;
    shape_ = {.query_heads = config.query_heads,
              .kv_heads = config.kv_heads,
              .head_size = config.head_size,
              .scale = 1.0f / std::sqrt(static_cast<float>(config.head_size))};
  }

 private:
  void list_tensors(const gguf::File& file, std::vector<TensorSlot>& slots) override {
    const auto u = [](int n) { return static_cast<uint64_t>(n); };
    const uint64_t E = u(config_.embedding), F = u(config_.feed_forward);
    slots.push_back({"rope_freqs.weight", {u(config_.rope_dimensions / 2)}, &rope_divisors_, false});
    layers_.resize(static_cast<size_t>(layer_count_));
    for (int i = 0; i < layer_count_; ++i) {
      LayerSlots layer(slots, i);
      Layer& w = layers_[static_cast<size_t>(i)];
      add_attention_slots(layer, file, config_.embedding, shape_, w.attention, {});
      layer.add("ffn_norm.weight", {E}, &w.mlp.norm);
      layer.add("ffn_gate.weight", {E, F}, &w.mlp.gate);
      layer.add("ffn_up.weight", {E, F}, &w.mlp.up);
      layer.add("ffn_down.weight", {F, E}, &w.mlp.down);
    }
  }

  Status make_frequencies(Device& device) override {
    RopeFrequencies frequencies =
        scaled_rope_frequencies(config_.rope_theta, config_.rope_dimensions, scaling_);
    for (size_t i = 0; i < rope_divisors_.size(); ++i) frequencies.values[i] /= rope_divisors_[i];
    magnitude_ = frequencies.magnitude;
    TRY_ASSIGN(frequencies_, make_device_vector(device, frequencies.values));
    return {};
  }

  Result<std::vector<kv::LayerLayout>> lay_out_kv(const Device& device) override {
    return attention_layouts(device, [this](int) { return shape_; });
  }

  void add_buffers(const LoadOptions&) override {
    workspace_.add(angles_.query, max_rows_, config_.rope_dimensions);
    if (temperature_ != 0) workspace_.add(angles_.key, max_rows_, config_.rope_dimensions);
    add_attention_buffers(shape_.query_heads * shape_.head_size, shape_.kv_heads * shape_.head_size, false,
                          false);
    workspace_.add(mlp_.gate, max_rows_, config_.feed_forward);
    workspace_.add(mlp_.up, max_rows_, config_.feed_forward);
  }

  void make_angles(Stream& stream, const StepInput& step) override {
    const AttentionAngles angles = angles_of(step);
    RopeAngles op{step.positions, frequencies_.view, {}, angles.query, magnitude_};
    if (temperature_ != 0) {
      RopeAngles keys = op;
      keys.out = angles.key;
      stream.submit(keys);
      op.temperature_scale = temperature_;
      op.temperature_length = static_cast<int>(scaling_.original_context);
    }
    stream.submit(op);
  }

  // Keys have angles of their own where queries are scaled.
  AttentionAngles angles_of(const StepInput& step) const {
    const View query = angles_.query.first_rows(step.rows);
    return {query, temperature_ != 0 ? angles_.key.first_rows(step.rows) : query};
  }

  void run_layer(Stream& stream, const StepInput& step, int i, const View& hidden) override {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    attention_block(stream, step, shape_, layer.attention, config_.norm_epsilon, angles_of(step),
                    kv_layout_.layers[static_cast<size_t>(i)], kv_type_, attention_, hidden);
    mlp_block(stream, layer.mlp, config_.norm_epsilon, Activation::kSilu, mlp_, hidden);
  }

  const RopeScaling scaling_;
  const float temperature_;
  float magnitude_ = 1.0f;
  AttentionShape shape_;
  HostVector rope_divisors_;
  std::vector<Layer> layers_;
  DeviceVector frequencies_;
  AttentionAngles angles_;
  MlpBuffers mlp_;
};

Result<std::unique_ptr<Decoder>> make(const gguf::File& file, std::string_view prefix) {
  TRY_ASSIGN(const TransformerConfig config, read_transformer_config(file, prefix));
  TRY_ASSIGN(const RopeScaling scaling, read_rope_scaling(file.metadata(), prefix));
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", prefix, name); };
  TRY_ASSIGN(const uint64_t experts, file.metadata().unsigned_integer_or(key("expert_count"), 0));
  if (experts != 0)
    return fail(ErrorCode::kUnsupported,
                "{} is {}: files of this architecture with experts are not supported", key("expert_count"),
                experts);
  TRY_ASSIGN(const double temperature, file.metadata().real_or(key("attention.temperature_scale"), 0.0));
  if (temperature != 0 && scaling.original_context < 1)
    return fail(ErrorCode::kCorrupt, "{} needs {}", key("attention.temperature_scale"),
                key("rope.scaling.original_context_length"));
  return std::make_unique<Llama>(config, scaling, temperature);
}

}  // namespace

Result<std::unique_ptr<Decoder>> make_llama(const gguf::File& file) {
  return make(file, "llama");
}
Result<std::unique_ptr<Decoder>> make_mistral3(const gguf::File& file) {
  return make(file, "mistral3");
}

}  // namespace tempo9::model
