#include "model/blocks/attention.h"

namespace tempo9::model {

using namespace backend;

namespace {

// The views of this layer's shape, which may be narrower than the workspace.
struct Heads {
  View query, key, value, gate, attended;
};

Heads heads_of(const AttentionShape& shape, const AttentionBuffers& buffers, int rows) {
  const int queries = shape.query_heads * shape.head_size, keys = shape.kv_heads * shape.head_size;
  return {part_of(buffers.query, rows, queries), part_of(buffers.key, rows, keys),
          part_of(buffers.value, rows, keys), part_of(buffers.gate, rows, queries),
          part_of(buffers.attended, rows, queries)};
}

void project(Stream& stream, const AttentionWeights& weights, float epsilon, const Heads& heads,
             const View& hidden) {
  Linear op;
  op.input = {.prepare = LinearInput::Prepare::kRmsNorm,
              .x = hidden,
              .norm_weight = weights.norm,
              .epsilon = epsilon};
  const auto add = [&](const Matrix& matrix, const View& out, const Vector& bias) {
    if (matrix) op.outputs[static_cast<size_t>(op.count++)] = {matrix.get(), out, bias};
  };
  add(weights.query, heads.query, weights.query_bias);
  add(weights.key, heads.key, weights.key_bias);
  add(weights.value, heads.value, weights.value_bias);
  add(weights.gate, heads.gate, {});
  stream.submit(op);
}

void norm_and_rotate(Stream& stream, const AttentionShape& shape, const AttentionWeights& weights,
                     float epsilon, const AttentionAngles& angles, const Heads& heads) {
  // Values that are made from keys need the keys as they were projected.
  if (shape.norm_values)
    stream.submit(RmsNorm{weights.value ? heads.value : heads.key, {}, heads.value, epsilon, shape.kv_heads});
  if (weights.query_norm)
    stream.submit(RmsNorm{heads.query, weights.query_norm, heads.query, epsilon, shape.query_heads});
  if (weights.key_norm)
    stream.submit(RmsNorm{heads.key, weights.key_norm, heads.key, epsilon, shape.kv_heads});
  stream.submit(Rope{heads.query, angles.query, shape.query_heads, shape.head_size, shape.rope_pairs});
  stream.submit(Rope{heads.key, angles.key, shape.kv_heads, shape.head_size, shape.rope_pairs});
}

}  // namespace

void attention_block(Stream& stream, const StepInput& step, const AttentionShape& shape,
                     const AttentionWeights& weights, float epsilon, const AttentionAngles& angles,
                     const kv::LayerPlace& place, KvType kv_type, const AttentionBuffers& buffers,
                     const View& hidden) {
  const auto group = static_cast<size_t>(place.group);
  const StepInput::Pages& pages = step.pages[group];
  const KvLayer kv{pages.slabs,
                   pages.pages_per_slab,
                   pages.page_bytes,
                   place.offset,
                   {kv_type, shape.kv_heads, shape.head_size, shape.head_size}};
  const Heads heads = heads_of(shape, buffers, step.rows);
  project(stream, weights, epsilon, heads, hidden);
  norm_and_rotate(stream, shape, weights, epsilon, angles, heads);
  stream.submit(KvWrite{heads.key, heads.value, step.page_tables[group], step.segments, kv});
  stream.submit(Attention{heads.query, heads.attended, step.page_tables[group], step.segments, kv,
                          weights.sinks, shape.query_heads, shape.scale, shape.window});
  Linear out;
  out.input.x = heads.attended;
  if (weights.gate) {
    out.input.prepare = LinearInput::Prepare::kGated;
    out.input.gate = heads.gate;
    out.input.activation = Activation::kSigmoid;
  }
  const bool direct = !weights.post_norm;
  const View result = direct ? hidden : buffers.result.first_rows(step.rows);
  out.outputs[0] = {weights.out.get(), result, weights.out_bias, direct};
  out.count = 1;
  stream.submit(out);
  if (!direct) stream.submit(RmsNorm{result, weights.post_norm, hidden, epsilon, 1, true});
}

}  // namespace tempo9::model
