#include "model/blocks/mlp.h"

#include "base/check.h"

namespace tempo9::model {

using namespace backend;

void mlp_block(Stream& stream, const MlpWeights& weights, float epsilon, Activation activation,
               const MlpBuffers& buffers, const View& hidden, float scale) {
  const View gate = buffers.gate.first_rows(hidden.rows), up = buffers.up.first_rows(hidden.rows);
  Linear widen;
  widen.input = {.prepare = LinearInput::Prepare::kRmsNorm,
                 .x = hidden,
                 .norm_weight = weights.norm,
                 .epsilon = epsilon};
  widen.outputs = {{{weights.gate.get(), gate, {}}, {weights.up.get(), up, {}}}};
  widen.count = 2;
  stream.submit(widen);

  const bool direct = !weights.post_norm;
  CHECK(!direct || scale == 1.0f);
  const View result = direct ? hidden : buffers.result.first_rows(hidden.rows);
  Linear narrow;
  narrow.input = {.prepare = LinearInput::Prepare::kGated, .x = up, .gate = gate, .activation = activation};
  narrow.outputs[0] = {weights.down.get(), result, {}, direct};
  narrow.count = 1;
  stream.submit(narrow);
  if (!direct) stream.submit(RmsNorm{result, weights.post_norm, hidden, epsilon, 1, true, scale});
}

}  // namespace tempo9::model
