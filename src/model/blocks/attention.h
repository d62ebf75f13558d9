// Grouped-query attention with rotary positions over paged keys and values (Ainslie et al., arXiv:2305.13245;
// Su et al., arXiv:2104.09864), with what families add to it: norms of heads, sinks, windows, an output gate,
// a norm behind it.
#pragma once
#include "model/model.h"
#include "model/weights.h"

namespace tempo9::model {

struct AttentionShape {
  int query_heads = 0, kv_heads = 0;
  int head_size = 0;
  float scale = 1.0f;
  int window = 0;
  backend::RopePairs rope_pairs = backend::RopePairs::kAdjacent;
  bool norm_values = false;  // each value head is normed, without a weight
};

// Whatever is absent is left out.
struct AttentionWeights {
  Vector norm;
  Matrix query, key, value, out;  // without `value`, values are made from the key projection
  Matrix gate;                    // the output is multiplied by the sigmoid of this projection
  Vector query_bias, key_bias, value_bias, out_bias;
  Vector query_norm, key_norm;  // of each head, before rotation
  Vector sinks;
  Vector post_norm;  // of the block's result, before it joins the residual
};

// Cosines and sines for queries and for keys (often the same view).
struct AttentionAngles {
  backend::View query, key;
};

struct AttentionBuffers {
  backend::View query, key, value, gate, attended;
  backend::View result;  // [rows, embedding], where there is a post_norm
};

// hidden += post_norm(out(attention(rope(query), rope(key), value))) of norm(hidden).
void attention_block(backend::Stream& stream, const StepInput& step, const AttentionShape& shape,
                     const AttentionWeights& weights, float epsilon, const AttentionAngles& angles,
                     const kv::LayerPlace& place, backend::KvType kv_type, const AttentionBuffers& buffers,
                     const backend::View& hidden);

// A view of a wider workspace view.
inline backend::View part_of(backend::View view, int rows, int columns) {
  view.rows = rows;
  view.columns = columns;
  return view;
}

}  // namespace tempo9::model
