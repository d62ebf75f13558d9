#include "model/decoder.h"

namespace tempo9::model {

using namespace backend;

namespace {
uint64_t u(int n) {
  return static_cast<uint64_t>(n);
}
}  // namespace

std::vector<TensorSlot> Decoder::slots(const gguf::File& file) {
  const uint64_t embedding = u(config_.embedding), vocabulary = u(config_.vocabulary);
  std::vector<TensorSlot> all = {
      {"token_embd.weight", {embedding, vocabulary}, &embedding_},
      {"output_norm.weight", {embedding}, &output_norm_},
      {"output.weight", {embedding, vocabulary}, &output_, false},
  };
  list_tensors(file, all);
  return all;
}

Status Decoder::check(const gguf::File& file) {
  return check_tensors(file, slots(file));
}

Status Decoder::load(const LoadContext& context) {
  kv_type_ = context.options.kv_type;
  max_rows_ = context.options.max_rows;
  TRY(store_.load(context.file, context.device, slots(context.file), context.progress));
  TRY(make_frequencies(context.device));
  TRY_ASSIGN(const std::vector<kv::LayerLayout> layers, lay_out_kv(context.device));
  kv_layout_ = kv::make_layout(layers);
  workspace_.add(hidden_, max_rows_, config_.embedding);
  workspace_.add(normed_, max_rows_, config_.embedding);
  workspace_.add(last_, context.options.max_logit_rows, config_.embedding);
  workspace_.add(logits_, context.options.max_logit_rows, config_.vocabulary);
  add_buffers(context.options);
  return workspace_.allocate(context.device);
}

void Decoder::add_attention_buffers(int queries, int keys, bool gated, bool post_norm) {
  workspace_.add(attention_.query, max_rows_, queries);
  workspace_.add(attention_.key, max_rows_, keys);
  workspace_.add(attention_.value, max_rows_, keys);
  workspace_.add(attention_.attended, max_rows_, queries);
  if (gated) workspace_.add(attention_.gate, max_rows_, queries);
  if (post_norm) workspace_.add(attention_.result, max_rows_, config_.embedding);
}

Result<kv::LayerLayout> Decoder::attention_layout(const Device& device, const AttentionShape& shape) const {
  TRY_ASSIGN(const size_t bytes,
             device.kv_layer_bytes({kv_type_, shape.kv_heads, shape.head_size, shape.head_size}));
  return kv::LayerLayout{shape.window == 0 ? kv::Keeps::kFull : kv::Keeps::kWindow, shape.window, bytes};
}

Result<std::vector<kv::LayerLayout>> Decoder::attention_layouts(
    const Device& device, const std::function<AttentionShape(int)>& shape_of) const {
  std::vector<kv::LayerLayout> layers;
  for (int layer = 0; layer < layer_count_; ++layer) {
    TRY_ASSIGN(const kv::LayerLayout layout, attention_layout(device, shape_of(layer)));
    layers.push_back(layout);
  }
  return layers;
}

View Decoder::forward(Stream& stream, const StepInput& step) {
  begin(stream, step);
  for (int layer = 0; layer < layer_count_; ++layer) advance(stream, step, layer);
  return end(stream, step);
}

void Decoder::begin(Stream& stream, const StepInput& step) {
  workspace_.use(step.lane);
  stream.submit(EmbedRows{embedding_.get(), step.ids, hidden_.first_rows(step.rows), embedding_scale_});
  make_angles(stream, step);
}

void Decoder::advance(Stream& stream, const StepInput& step, int layer) {
  workspace_.use(step.lane);
  run_layer(stream, step, layer, hidden_.first_rows(step.rows));
}

View Decoder::end(Stream& stream, const StepInput& step) {
  workspace_.use(step.lane);
  return logits_of(stream, step, hidden_.first_rows(step.rows), output_norm_, output_);
}

View Decoder::hidden(Stream& stream, const StepInput& step) {
  workspace_.use(step.lane);
  const View normed = normed_.first_rows(step.hidden_rows.rows);
  if (normed.rows == 0) return normed;
  stream.submit(GatherRows{hidden_, step.hidden_rows, normed});
  stream.submit(RmsNorm{normed, output_norm_, normed, config_.norm_epsilon});
  return normed;
}

View Decoder::logits_of(Stream& stream, const StepInput& step, const View& hidden, const Vector& norm,
                        const Matrix& output) {
  const View last = last_.first_rows(step.logit_rows.rows), logits = logits_.first_rows(step.logit_rows.rows);
  if (last.rows == 0) return logits;
  stream.submit(GatherRows{hidden, step.logit_rows, last});
  const Matrix& own = output_ ? output_ : embedding_;
  Linear op;
  op.input = {.prepare = LinearInput::Prepare::kRmsNorm,
              .x = last,
              .norm_weight = norm,
              .epsilon = config_.norm_epsilon};
  op.outputs[0] = {(output ? output : own).get(), logits};
  op.count = 1;
  stream.submit(op);
  if (logit_softcap_ > 0) stream.submit(Softcap{logits, logit_softcap_});
  return logits;
}

void add_attention_slots(LayerSlots& layer, const gguf::File& file, int embedding,
                         const AttentionShape& shape, AttentionWeights& w, AttentionNeeds needs) {
  const uint64_t E = u(embedding), Q = u(shape.query_heads * shape.head_size),
                 KV = u(shape.kv_heads * shape.head_size);
  layer.add("attn_norm.weight", {E}, &w.norm);
  const uint64_t all = Q + 2 * KV;
  const RowPart query{0, Q, all}, key{Q, KV, all}, value{Q + KV, KV, all};
  if (file.find_tensor(layer.name("attn_qkv.weight")) != nullptr) {
    layer.add("attn_qkv.weight", {E, all}, &w.query, true, query);
    layer.add("attn_qkv.weight", {E, all}, &w.key, true, key);
    layer.add("attn_qkv.weight", {E, all}, &w.value, true, value);
  } else {
    layer.add("attn_q.weight", {E, Q}, &w.query);
    layer.add("attn_k.weight", {E, KV}, &w.key);
    layer.add("attn_v.weight", {E, KV}, &w.value, needs.values);
  }
  if (file.find_tensor(layer.name("attn_qkv.bias")) != nullptr) {
    layer.add("attn_qkv.bias", {all}, &w.query_bias, true, query);
    layer.add("attn_qkv.bias", {all}, &w.key_bias, true, key);
    layer.add("attn_qkv.bias", {all}, &w.value_bias, true, value);
  } else {
    layer.add("attn_q.bias", {Q}, &w.query_bias, needs.biases);
    layer.add("attn_k.bias", {KV}, &w.key_bias, needs.biases);
    layer.add("attn_v.bias", {KV}, &w.value_bias, needs.biases);
  }
  layer.add("attn_output.weight", {Q, E}, &w.out);
  layer.add("attn_output.bias", {E}, &w.out_bias, needs.biases);
}

}  // namespace tempo9::model
