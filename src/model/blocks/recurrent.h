// Linear attention with a gated delta rule and a short convolution before it (Yang et al., arXiv:2412.06464).
#pragma once
#include "model/model.h"
#include "model/weights.h"

namespace tempo9::model {

struct RecurrentShape {
  int key_heads = 0, value_heads = 0, key_size = 0, value_size = 0;
  int taps = 0;  // of the convolution

  int convolved() const { return 2 * key_heads * key_size + value_heads * value_size; }
  int values() const { return value_heads * value_size; }
  // The state: the convolution's last inputs, then the heads' matrices.
  size_t conv_bytes() const {
    return (static_cast<size_t>(taps - 1) * static_cast<size_t>(convolved()) * sizeof(float) + 63) / 64 * 64;
  }
  size_t state_bytes() const {
    return conv_bytes() +
           (static_cast<size_t>(values()) * static_cast<size_t>(key_size) * sizeof(float) + 63) / 64 * 64;
  }
};

struct RecurrentWeights {
  Vector norm;
  Matrix mixed;  // queries, keys and values
  Matrix gate, alpha, beta, out;
  Vector convolution;  // [convolved, taps]
  Vector a, dt;
  Vector value_norm;
};

struct RecurrentBuffers {
  backend::View mixed, convolved, gate, alpha, beta, values;
};

class Workspace;
void add_recurrent_buffers(Workspace& workspace, RecurrentBuffers& buffers, const RecurrentShape& shape,
                           int rows);

// hidden += out(norm(delta rule(convolution(mixed))) * silu(gate)) of norm(hidden).
void recurrent_block(backend::Stream& stream, const StepInput& step, const RecurrentShape& shape,
                     const RecurrentWeights& weights, float epsilon, const kv::LayerPlace& place,
                     const RecurrentBuffers& buffers, const backend::View& hidden);

}  // namespace tempo9::model
