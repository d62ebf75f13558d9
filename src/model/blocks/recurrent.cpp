#include "model/blocks/recurrent.h"

#include "model/workspace.h"

namespace tempo9::model {

using namespace backend;

void add_recurrent_buffers(Workspace& workspace, RecurrentBuffers& b, const RecurrentShape& shape, int rows) {
  workspace.add(b.mixed, rows, shape.convolved());
  workspace.add(b.convolved, rows, shape.convolved());
  workspace.add(b.gate, rows, shape.values());
  workspace.add(b.alpha, rows, shape.value_heads);
  workspace.add(b.beta, rows, shape.value_heads);
  workspace.add(b.values, rows, shape.values());
}

void recurrent_block(Stream& stream, const StepInput& step, const RecurrentShape& shape,
                     const RecurrentWeights& weights, float epsilon, const kv::LayerPlace& place,
                     const RecurrentBuffers& buffers, const View& hidden) {
  const View mixed = buffers.mixed.first_rows(step.rows), convolved = buffers.convolved.first_rows(step.rows);
  const View gate = buffers.gate.first_rows(step.rows), values = buffers.values.first_rows(step.rows);
  const View alpha = buffers.alpha.first_rows(step.rows), beta = buffers.beta.first_rows(step.rows);
  const auto group = static_cast<size_t>(place.group);
  const StepInput::Pages& pages = step.pages[group];
  const StateLayer conv_state{pages.slabs, pages.pages_per_slab, pages.page_bytes, place.offset};
  StateLayer delta_state = conv_state;
  delta_state.layer_offset += shape.conv_bytes();

  Linear project;
  project.input = {.prepare = LinearInput::Prepare::kRmsNorm,
                   .x = hidden,
                   .norm_weight = weights.norm,
                   .epsilon = epsilon};
  project.outputs = {{{weights.mixed.get(), mixed},
                      {weights.gate.get(), gate},
                      {weights.alpha.get(), alpha},
                      {weights.beta.get(), beta}}};
  project.count = 4;
  stream.submit(project);

  const View taps{weights.convolution.buffer, weights.convolution.offset, shape.convolved(), shape.taps,
                  shape.taps};
  stream.submit(CausalConv{mixed, taps, convolved, step.page_tables[group], step.segments, conv_state,
                           Activation::kSilu, step.saves});
  stream.submit(GatedDelta{convolved, alpha, beta, weights.a, weights.dt, values, step.page_tables[group],
                           step.segments, delta_state, shape.key_heads, shape.value_heads, shape.key_size,
                           shape.value_size, 1e-6f, step.saves});
  stream.submit(RmsNorm{values, weights.value_norm, values, epsilon, shape.value_heads});

  Linear out;
  out.input = {
      .prepare = LinearInput::Prepare::kGated, .x = values, .gate = gate, .activation = Activation::kSilu};
  out.outputs[0] = {weights.out.get(), hidden, {}, true};
  out.count = 1;
  stream.submit(out);
}

}  // namespace tempo9::model
