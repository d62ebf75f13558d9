// A mixture of experts: each row goes to the few experts its router likes best (Shazeer et al.,
// arXiv:1701.06538), with or without an expert that every row uses.
#pragma once
#include "gguf/metadata.h"
#include "model/weights.h"

namespace tempo9::model {

struct MoeShape {
  int experts = 0, used = 0;
  int feed_forward = 0;
  int shared_feed_forward = 0;  // 0: no shared expert
  backend::Activation activation = backend::Activation::kSilu;
};

struct MoeWeights {
  Vector norm;
  Matrix router;
  Vector router_bias;
  Matrix gate, up, down;                 // stacks, one matrix an expert
  Vector gate_bias, up_bias, down_bias;  // [experts * rows] or absent
  Matrix shared_gate, shared_up, shared_down;
  Matrix shared_weight;  // one row: the shared expert's weight before its sigmoid
};

struct MoeBuffers {
  backend::View router_logits, indices, weights;
  backend::View gate, up, result;  // a row per row and used expert
  backend::View shared_gate, shared_up, shared_result, shared_weight;
};

// Reads "<prefix>.expert_*".
Result<MoeShape> read_moe_shape(const gguf::Metadata& metadata, std::string_view prefix);
// Router and experts, gate and up as two tensors or as one; the shared expert if the shape has one.
void add_moe_slots(LayerSlots& layer, const gguf::File& file, int embedding, const MoeShape& shape,
                   MoeWeights& weights);

class Workspace;
void add_moe_buffers(Workspace& workspace, MoeBuffers& buffers, const MoeShape& shape, int rows,
                     int embedding);

// hidden += sum of weighted experts (+ sigmoid(shared weight) * shared expert) of norm(hidden).
void moe_block(backend::Stream& stream, const MoeShape& shape, const MoeWeights& weights, float epsilon,
               const MoeBuffers& buffers, const backend::View& hidden);

}  // namespace tempo9::model
