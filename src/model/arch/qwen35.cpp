// `qwen35` and `qwen35moe` (text): most layers are gated delta nets, every few layers attention with an
// output gate; a head that drafts the token after next (MTP) may follow the trunk. Feed-forward or experts
// with one shared expert. Interleaved positions as in qwen3vl. Yang et al., arXiv:2412.06464 (gated delta
// rule); Gloeckle et al., arXiv:2404.19737 (multi-token prediction); key and tensor names: gguf-py of
// github.com/ggml-org/llama.cpp.
#include <cmath>

#include "model/blocks/mlp.h"
#include "model/blocks/moe.h"
#include "model/blocks/recurrent.h"
#include "model/decoder.h"

namespace tempo9::model {
namespace {

using namespace backend;

struct FeedForward {
  MlpWeights mlp;  // dense models
  MoeWeights moe;  // models with experts
};

struct Layer {
  bool recurrent = false;
  AttentionWeights attention;
  RecurrentWeights delta;
  FeedForward feed_forward;
};

struct DraftHead {
  Matrix join;  // of an embedding and a state
  Vector embedding_norm, state_norm, output_norm;
  Matrix embedding, output;  // absent: the trunk's
};

struct Keys {
  RecurrentShape recurrent;
  std::vector<bool> is_recurrent;  // per layer of the trunk
  std::vector<int32_t> axes;
  int draft_layers = 0;
};

class Qwen35 final : public Decoder {
 public:
  Qwen35(TransformerConfig config, Keys keys, MoeShape moe)
      : Decoder(config), keys_(std::move(keys)), moe_(moe) {
    layer_count_ = config.layers - keys_.draft_layers;
    shape_ = {.query_heads = config.query_heads,
              .kv_heads = config.kv_heads,
              .head_size = config.head_size,
              .scale = 1.0f / std::sqrt(static_cast<float>(config.head_size)),
              .rope_pairs = RopePairs::kSplit};
    layers_.resize(static_cast<size_t>(layer_count_));
    for (size_t i = 0; i < layers_.size(); ++i) layers_[i].recurrent = keys_.is_recurrent[i];
  }

  bool has_draft_head() const override { return has_draft_; }
  std::vector<std::string> remarks() const override;
  View draft(Stream& stream, const StepInput& step) override;

 private:
  bool has_experts() const { return moe_.experts != 0; }

  void list_tensors(const gguf::File& file, std::vector<TensorSlot>& slots) override;
  void list_attention(LayerSlots& layer, const gguf::File& file, AttentionWeights& w) const;
  void list_recurrent(LayerSlots& layer, RecurrentWeights& w) const;
  void list_feed_forward(LayerSlots& layer, const gguf::File& file, FeedForward& w) const;
  void list_draft_head(LayerSlots& layer, const gguf::File& file);
  void run_attention(Stream& stream, const StepInput& step, const AttentionWeights& weights, int layer,
                     const View& hidden);
  void run_feed_forward(Stream& stream, const FeedForward& weights, const View& hidden);

  Status make_frequencies(Device& device) override {
    TRY_ASSIGN(frequencies_,
               make_device_vector(device, rope_frequencies(config_.rope_theta, config_.rope_dimensions)));
    if (!keys_.axes.empty()) {
      TRY_ASSIGN(axes_, make_device_vector(device, std::as_bytes(std::span(keys_.axes))));
    }
    return {};
  }

  Result<std::vector<kv::LayerLayout>> lay_out_kv(const Device& device) override {
    TRY_ASSIGN(const kv::LayerLayout attention, attention_layout(device, shape_));
    std::vector<kv::LayerLayout> layouts;
    for (const Layer& layer : layers_)
      layouts.push_back(layer.recurrent ? kv::LayerLayout{kv::Keeps::kState, 0, keys_.recurrent.state_bytes()}
                                        : attention);
    if (has_draft_) layouts.push_back(attention);
    return layouts;
  }

  void add_buffers(const LoadOptions&) override {
    workspace_.add(angles_, max_rows_, config_.rope_dimensions);
    add_attention_buffers(shape_.query_heads * shape_.head_size, shape_.kv_heads * shape_.head_size, true,
                          false);
    add_recurrent_buffers(workspace_, recurrent_buffers_, keys_.recurrent, max_rows_);
    if (has_experts()) {
      add_moe_buffers(workspace_, moe_buffers_, moe_, max_rows_, config_.embedding);
    } else {
      workspace_.add(mlp_.gate, max_rows_, config_.feed_forward);
      workspace_.add(mlp_.up, max_rows_, config_.feed_forward);
    }
    if (!has_draft_) return;
    workspace_.add(joined_, max_rows_, 2 * config_.embedding);
    workspace_.add(draft_hidden_, max_rows_, config_.embedding);
  }

  void make_angles(Stream& stream, const StepInput& step) override {
    const View axes = step.positions.columns > 1 ? axes_.view : View{};
    stream.submit(RopeAngles{step.positions, frequencies_.view, axes, angles_.first_rows(step.rows)});
  }

  void run_layer(Stream& stream, const StepInput& step, int i, const View& hidden) override {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    if (layer.recurrent)
      recurrent_block(stream, step, keys_.recurrent, layer.delta, config_.norm_epsilon,
                      kv_layout_.layers[static_cast<size_t>(i)], recurrent_buffers_, hidden);
    else
      run_attention(stream, step, layer.attention, i, hidden);
    run_feed_forward(stream, layer.feed_forward, hidden);
  }

  const Keys keys_;
  const MoeShape moe_;
  AttentionShape shape_;
  std::vector<Layer> layers_;
  Layer draft_layer_;
  DraftHead draft_;
  bool has_draft_ = false;
  DeviceVector frequencies_, axes_;
  View angles_, joined_, draft_hidden_;
  RecurrentBuffers recurrent_buffers_;
  MlpBuffers mlp_;
  MoeBuffers moe_buffers_;
};

uint64_t u(int n) {
  return static_cast<uint64_t>(n);
}

void Qwen35::list_attention(LayerSlots& layer, const gguf::File& file, AttentionWeights& w) const {
  const uint64_t E = u(config_.embedding), D = u(config_.head_size), H = u(config_.query_heads), Q = H * D,
                 KV = u(config_.kv_heads) * D;
  // For each head its query rows, then the rows of its gate.
  const RowPart query{0, D, 2 * D, H}, gate{D, D, 2 * D, H};
  if (file.find_tensor(layer.name("attn_qkv.weight")) != nullptr) {
    const uint64_t all = 2 * Q + 2 * KV;
    layer.add("attn_qkv.weight", {E, all}, &w.query, true, query);
    layer.add("attn_qkv.weight", {E, all}, &w.gate, true, gate);
    layer.add("attn_qkv.weight", {E, all}, &w.key, true, {2 * Q, KV, all});
    layer.add("attn_qkv.weight", {E, all}, &w.value, true, {2 * Q + KV, KV, all});
  } else {
    layer.add("attn_q.weight", {E, 2 * Q}, &w.query, true, query);
    layer.add("attn_q.weight", {E, 2 * Q}, &w.gate, true, gate);
    layer.add("attn_k.weight", {E, KV}, &w.key);
    layer.add("attn_v.weight", {E, KV}, &w.value);
  }
  layer.add("attn_output.weight", {Q, E}, &w.out);
  layer.add("attn_q_norm.weight", {D}, &w.query_norm);
  layer.add("attn_k_norm.weight", {D}, &w.key_norm);
}

void Qwen35::list_recurrent(LayerSlots& layer, RecurrentWeights& w) const {
  const RecurrentShape& r = keys_.recurrent;
  const uint64_t E = u(config_.embedding), C = u(r.convolved()), V = u(r.values()), H = u(r.value_heads);
  layer.add("attn_qkv.weight", {E, C}, &w.mixed);
  layer.add("attn_gate.weight", {E, V}, &w.gate);
  layer.add("ssm_alpha.weight", {E, H}, &w.alpha);
  layer.add("ssm_beta.weight", {E, H}, &w.beta);
  layer.add("ssm_conv1d.weight", {u(r.taps), C}, &w.convolution);
  layer.add("ssm_dt.bias", {H}, &w.dt);
  layer.add("ssm_a", {H}, &w.a);
  layer.add("ssm_norm.weight", {u(r.value_size)}, &w.value_norm);
  layer.add("ssm_out.weight", {V, E}, &w.out);
}

void Qwen35::list_feed_forward(LayerSlots& layer, const gguf::File& file, FeedForward& w) const {
  const uint64_t E = u(config_.embedding), F = u(config_.feed_forward);
  layer.add("post_attention_norm.weight", {E},
            has_experts() ? &w.moe.norm : &w.mlp.norm);  // in front of the feed-forward, despite its name
  if (has_experts()) {
    add_moe_slots(layer, file, config_.embedding, moe_, w.moe);
    return;
  }
  layer.add("ffn_gate.weight", {E, F}, &w.mlp.gate);
  layer.add("ffn_up.weight", {E, F}, &w.mlp.up);
  layer.add("ffn_down.weight", {F, E}, &w.mlp.down);
}

void Qwen35::list_draft_head(LayerSlots& layer, const gguf::File& file) {
  const uint64_t E = u(config_.embedding), V = u(config_.vocabulary);
  layer.add("attn_norm.weight", {E}, &draft_layer_.attention.norm);
  list_attention(layer, file, draft_layer_.attention);
  list_feed_forward(layer, file, draft_layer_.feed_forward);
  layer.add("nextn.eh_proj.weight", {2 * E, E}, &draft_.join);
  layer.add("nextn.enorm.weight", {E}, &draft_.embedding_norm);
  layer.add("nextn.hnorm.weight", {E}, &draft_.state_norm);
  layer.add("nextn.shared_head_norm.weight", {E}, &draft_.output_norm, false);
  layer.add("nextn.embed_tokens.weight", {E, V}, &draft_.embedding, false);
  layer.add("nextn.shared_head_head.weight", {E, V}, &draft_.output, false);
}

void Qwen35::list_tensors(const gguf::File& file, std::vector<TensorSlot>& slots) {
  for (int i = 0; i < layer_count_; ++i) {
    LayerSlots layer(slots, i);
    Layer& w = layers_[static_cast<size_t>(i)];
    layer.add("attn_norm.weight", {u(config_.embedding)}, w.recurrent ? &w.delta.norm : &w.attention.norm);
    if (w.recurrent)
      list_recurrent(layer, w.delta);
    else
      list_attention(layer, file, w.attention);
    list_feed_forward(layer, file, w.feed_forward);
  }
  // A file may count the head's layer and yet leave its tensors out.
  LayerSlots last(slots, layer_count_);
  has_draft_ = keys_.draft_layers == 1 && file.find_tensor(last.name("nextn.eh_proj.weight")) != nullptr;
  if (has_draft_) list_draft_head(last, file);
}

std::vector<std::string> Qwen35::remarks() const {
  if (keys_.draft_layers == 0 || has_draft_) return {};
  return {
      fmt::format("block {}, which the file counts, would draft tokens (MTP), but its tensors are missing: "
                  "speculation is off",
                  layer_count_)};
}

void Qwen35::run_attention(Stream& stream, const StepInput& step, const AttentionWeights& weights, int layer,
                           const View& hidden) {
  const View angles = angles_.first_rows(step.rows);
  attention_block(stream, step, shape_, weights, config_.norm_epsilon, {angles, angles},
                  kv_layout_.layers[static_cast<size_t>(layer)], kv_type_, attention_, hidden);
}

void Qwen35::run_feed_forward(Stream& stream, const FeedForward& weights, const View& hidden) {
  if (has_experts())
    moe_block(stream, moe_, weights.moe, config_.norm_epsilon, moe_buffers_, hidden);
  else
    mlp_block(stream, weights.mlp, config_.norm_epsilon, Activation::kSilu, mlp_, hidden);
}

View Qwen35::draft(Stream& stream, const StepInput& step) {
  workspace_.use(step.lane);
  const int E = config_.embedding;
  const View joined = joined_.first_rows(step.rows), drafted = draft_hidden_.first_rows(step.rows);
  View first = joined, second = joined;
  first.columns = second.columns = E;
  second.offset += static_cast<size_t>(E) * sizeof(float);
  const Matrix& embedding = draft_.embedding ? draft_.embedding : embedding_;
  stream.submit(EmbedRows{embedding.get(), step.ids, first});
  stream.submit(RmsNorm{first, draft_.embedding_norm, first, config_.norm_epsilon});
  stream.submit(RmsNorm{hidden_.first_rows(step.rows), output_norm_, second, config_.norm_epsilon});
  stream.submit(RmsNorm{second, draft_.state_norm, second, config_.norm_epsilon});
  Linear join;
  join.input.x = joined;
  join.outputs[0] = {draft_.join.get(), drafted};
  join.count = 1;
  stream.submit(join);
  run_attention(stream, step, draft_layer_.attention, layer_count_, drafted);
  run_feed_forward(stream, draft_layer_.feed_forward, drafted);
  return logits_of(stream, step, drafted, draft_.output_norm ? draft_.output_norm : output_norm_,
                   draft_.output);
}

Result<RecurrentShape> read_recurrent_shape(const gguf::Metadata& metadata, std::string_view prefix) {
  const auto read = [&](std::string_view name, uint64_t most) {
    return read_count(metadata, fmt::format("{}.ssm.{}", prefix, name), most);
  };
  RecurrentShape shape;
  TRY_ASSIGN(shape.taps, read("conv_kernel", 64));
  TRY_ASSIGN(shape.key_size, read("state_size", 1024));
  TRY_ASSIGN(shape.key_heads, read("group_count", 1024));
  TRY_ASSIGN(shape.value_heads, read("time_step_rank", 4096));
  TRY_ASSIGN(const int inner, read("inner_size", 1 << 20));
  if (inner % shape.value_heads != 0 || shape.value_heads % shape.key_heads != 0 || shape.taps < 2)
    return fail(ErrorCode::kCorrupt, "the {}.ssm.* keys contradict each other", prefix);
  shape.value_size = inner / shape.value_heads;
  constexpr int kLanes = 16;  // columns of a state that devices take side by side
  if (shape.value_size % kLanes != 0)
    return fail(ErrorCode::kUnsupported, "{}.ssm.inner_size makes value heads of {}, no multiple of {}",
                prefix, shape.value_size, kLanes);
  return shape;
}

Result<Keys> read_keys(const gguf::File& file, std::string_view prefix, const TransformerConfig& config) {
  const gguf::Metadata& metadata = file.metadata();
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", prefix, name); };
  Keys keys;
  TRY_ASSIGN(keys.recurrent, read_recurrent_shape(metadata, prefix));
  TRY_ASSIGN(keys.axes, read_rope_axes(metadata, prefix, config.rope_dimensions / 2));
  // Some files have the head and count it, but do not say so.
  const std::string last = fmt::format("blk.{}.nextn.eh_proj.weight", config.layers - 1);
  const uint64_t heads = file.find_tensor(last) == nullptr ? 0 : 1;
  TRY_ASSIGN(const uint64_t draft_layers, metadata.unsigned_integer_or(key("nextn_predict_layers"), heads));
  if (draft_layers > 1 || draft_layers >= u(config.layers))
    return fail(ErrorCode::kUnsupported, "{} is {}; at most 1 is supported", key("nextn_predict_layers"),
                draft_layers);
  keys.draft_layers = static_cast<int>(draft_layers);
  const int trunk = config.layers - keys.draft_layers;
  if (metadata.has(key("attention.recurrent_layers"))) {
    TRY_ASSIGN(keys.is_recurrent, metadata.booleans(key("attention.recurrent_layers")));
    if (keys.is_recurrent.size() < static_cast<size_t>(trunk))
      return fail(ErrorCode::kCorrupt, "{} has {} entries for {} layers", key("attention.recurrent_layers"),
                  keys.is_recurrent.size(), trunk);
    return keys;
  }
  TRY_ASSIGN(const uint64_t interval, metadata.unsigned_integer_or(key("full_attention_interval"), 4));
  if (interval == 0) return fail(ErrorCode::kCorrupt, "{} is 0", key("full_attention_interval"));
  for (int i = 0; i < trunk; ++i) keys.is_recurrent.push_back((u(i) + 1) % interval != 0);
  return keys;
}

Result<std::unique_ptr<Decoder>> make(const gguf::File& file, std::string_view prefix, bool experts) {
  TRY_ASSIGN(const TransformerConfig config, read_transformer_config(file, prefix));
  TRY_ASSIGN(Keys keys, read_keys(file, prefix, config));
  MoeShape moe;
  if (experts) {
    TRY_ASSIGN(moe, read_moe_shape(file.metadata(), prefix));
  }
  return std::make_unique<Qwen35>(config, std::move(keys), moe);
}

}  // namespace

Result<std::unique_ptr<Decoder>> make_qwen35(const gguf::File& file) {
  return make(file, "qwen35", false);
}
Result<std::unique_ptr<Decoder>> make_qwen35moe(const gguf::File& file) {
  return make(file, "qwen35moe", true);
}

}  // namespace tempo9::model
