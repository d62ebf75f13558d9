// The gated feed-forward block (Shazeer, arXiv:2002.05202).
#pragma once
#include "model/weights.h"

namespace tempo9::model {

struct MlpWeights {
  Vector norm;
  Matrix gate, up, down;
  Vector post_norm;  // of the block's result, before it joins the residual; may be absent
};

struct MlpBuffers {
  backend::View gate, up;
  backend::View result;  // [rows, embedding], where there is a post_norm
};

// hidden = (hidden + post_norm(down(activation(gate(x)) * up(x)))) * scale, x = norm(hidden). A scale needs a
// post_norm.
void mlp_block(backend::Stream& stream, const MlpWeights& weights, float epsilon,
               backend::Activation activation, const MlpBuffers& buffers, const backend::View& hidden,
               float scale = 1.0f);

}  // namespace tempo9::model
