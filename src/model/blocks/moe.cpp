#include "model/blocks/moe.h"

#include "model/config.h"
#include "model/workspace.h"

namespace tempo9::model {

using namespace backend;

namespace {

// A vector of biases, one row a matrix.
View rows_of(const Vector& bias, int rows) {
  if (!bias) return {};
  const int columns = bias.columns / rows;
  return {bias.buffer, bias.offset, rows, columns, columns};
}

LinearInput normed(const View& hidden, const Vector& norm, float epsilon) {
  return {.prepare = LinearInput::Prepare::kRmsNorm, .x = hidden, .norm_weight = norm, .epsilon = epsilon};
}

LinearInput gated(const View& gate, const View& up, Activation activation) {
  return {.prepare = LinearInput::Prepare::kGated, .x = up, .gate = gate, .activation = activation};
}

}  // namespace

Result<MoeShape> read_moe_shape(const gguf::Metadata& metadata, std::string_view prefix) {
  const auto key = [&](std::string_view name) { return fmt::format("{}.{}", prefix, name); };
  constexpr uint64_t kMostExperts = 4096, kMostWidth = 1 << 20;
  MoeShape shape;
  TRY_ASSIGN(shape.experts, read_count(metadata, key("expert_count"), kMostExperts));
  TRY_ASSIGN(shape.used,
             read_count(metadata, key("expert_used_count"), static_cast<uint64_t>(shape.experts)));
  TRY_ASSIGN(shape.feed_forward, read_count(metadata, key("expert_feed_forward_length"), kMostWidth));
  if (metadata.has(key("expert_shared_feed_forward_length"))) {
    TRY_ASSIGN(shape.shared_feed_forward,
               read_count(metadata, key("expert_shared_feed_forward_length"), kMostWidth));
  }
  return shape;
}

void add_moe_slots(LayerSlots& layer, const gguf::File& file, int embedding, const MoeShape& shape,
                   MoeWeights& w) {
  const auto u = [](int n) { return static_cast<uint64_t>(n); };
  const uint64_t E = u(embedding), X = u(shape.experts), F = u(shape.feed_forward),
                 S = u(shape.shared_feed_forward);
  layer.add("ffn_gate_inp.weight", {E, X}, &w.router);
  if (file.find_tensor(layer.name("ffn_gate_up_exps.weight")) != nullptr) {
    layer.add("ffn_gate_up_exps.weight", {E, 2 * F, X}, &w.gate, true, {0, F, 2 * F});
    layer.add("ffn_gate_up_exps.weight", {E, 2 * F, X}, &w.up, true, {F, F, 2 * F});
  } else {
    layer.add("ffn_gate_exps.weight", {E, F, X}, &w.gate);
    layer.add("ffn_up_exps.weight", {E, F, X}, &w.up);
  }
  layer.add("ffn_down_exps.weight", {F, E, X}, &w.down);
  if (S == 0) return;
  layer.add("ffn_gate_inp_shexp.weight", {E}, &w.shared_weight);
  layer.add("ffn_gate_shexp.weight", {E, S}, &w.shared_gate);
  layer.add("ffn_up_shexp.weight", {E, S}, &w.shared_up);
  layer.add("ffn_down_shexp.weight", {S, E}, &w.shared_down);
}

void add_moe_buffers(Workspace& workspace, MoeBuffers& b, const MoeShape& shape, int rows, int embedding) {
  const int slots = rows * shape.used;
  workspace.add(b.router_logits, rows, shape.experts);
  workspace.add(b.indices, rows, shape.used);
  workspace.add(b.weights, rows, shape.used);
  workspace.add(b.gate, slots, shape.feed_forward);
  workspace.add(b.up, slots, shape.feed_forward);
  workspace.add(b.result, slots, embedding);
  if (shape.shared_feed_forward == 0) return;
  workspace.add(b.shared_gate, rows, shape.shared_feed_forward);
  workspace.add(b.shared_up, rows, shape.shared_feed_forward);
  workspace.add(b.shared_result, rows, embedding);
  workspace.add(b.shared_weight, rows, 1);
}

void moe_block(Stream& stream, const MoeShape& shape, const MoeWeights& weights, float epsilon,
               const MoeBuffers& buffers, const View& hidden) {
  const int rows = hidden.rows, slots = rows * shape.used;
  const bool shared = shape.shared_feed_forward != 0;
  const View logits = buffers.router_logits.first_rows(rows), indices = buffers.indices.first_rows(rows),
             chosen = buffers.weights.first_rows(rows);
  const View shared_gate = buffers.shared_gate.first_rows(rows),
             shared_up = buffers.shared_up.first_rows(rows);
  const View shared_weight = buffers.shared_weight.first_rows(rows),
             shared_result = buffers.shared_result.first_rows(rows);

  // Everything that reads the normed input comes before anything is added to the residual.
  Linear route;
  route.input = normed(hidden, weights.norm, epsilon);
  route.outputs[0] = {weights.router.get(), logits, weights.router_bias};
  if (shared) {
    route.outputs[1] = {weights.shared_gate.get(), shared_gate};
    route.outputs[2] = {weights.shared_up.get(), shared_up};
    route.outputs[3] = {weights.shared_weight.get(), shared_weight};
  }
  route.count = shared ? 4 : 1;
  stream.submit(route);
  stream.submit(RouteTopK{logits, indices, chosen});

  ExpertLinear widen;
  widen.input = normed(hidden, weights.norm, epsilon);
  widen.indices = indices;
  widen.outputs = {
      {{weights.gate.get(), buffers.gate.first_rows(slots), rows_of(weights.gate_bias, shape.experts)},
       {weights.up.get(), buffers.up.first_rows(slots), rows_of(weights.up_bias, shape.experts)}}};
  widen.count = 2;
  stream.submit(widen);
  ExpertLinear narrow;
  narrow.input = gated(buffers.gate.first_rows(slots), buffers.up.first_rows(slots), shape.activation);
  narrow.indices = indices;
  narrow.outputs[0] = {weights.down.get(), buffers.result.first_rows(slots),
                       rows_of(weights.down_bias, shape.experts)};
  narrow.count = 1;
  narrow.input_per_slot = true;
  stream.submit(narrow);

  if (shared) {
    Linear down;
    down.input = gated(shared_gate, shared_up, shape.activation);
    down.outputs[0] = {weights.shared_down.get(), shared_result};
    down.count = 1;
    stream.submit(down);
  }
  stream.submit(CombineExperts{buffers.result.first_rows(slots), chosen, hidden});
  if (shared) stream.submit(CombineExperts{shared_result, shared_weight, hidden, Activation::kSigmoid});
}

}  // namespace tempo9::model
