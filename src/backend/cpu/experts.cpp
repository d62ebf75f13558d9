// Experts: rows grouped by the matrix they ask for, so that each matrix is read once and only if some row
// asks for it.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/cpu/input_rows.h"
#include "backend/cpu/operations.h"

namespace tempo9::backend::cpu {
namespace {

constexpr int kMostPanelsPerItem = 8;

// One output of one expert, some panels of it.
void run_expert(const LinearOutput& output, int group, int first_panel, int last_panel,
                const InputRows& input, std::byte* inputs, float* results, const Context& context) {
  const auto& weight = static_cast<const PanelWeight&>(*output.weight);
  const ExpertGroups& groups = context.expert_groups;
  const int expert = groups.expert(group), begin = groups.begin(group);
  LinearTask task{.panels = weight.matrix(expert), .columns = weight.columns(), .outputs = weight.rows()};
  task.first_panel = first_panel;
  task.last_panel = last_panel;
  task.rows = groups.begin(group + 1) - begin;
  const LinearKernel& kernel = context.kernels.linear[weight.format_index()];
  input.select(task, kernel.input, inputs, groups.slots(), begin);
  task.out_stride = static_cast<size_t>(weight.rows());
  task.out = results + static_cast<size_t>(begin) * task.out_stride;
  task.bias = output.bias ? row_pointer(output.bias, expert) : nullptr;
  kernel.run(task);
  const int first = first_panel * kPanelRows, last = std::min(weight.rows(), last_panel * kPanelRows);
  for (int i = 0; i < task.rows; ++i)
    std::memcpy(row_pointer(output.out, groups.slot(begin + i)) + first,
                task.out + static_cast<size_t>(i) * task.out_stride + first,
                static_cast<size_t>(last - first) * sizeof(float));
}

// One output of all experts that have slots. However few they are, every thread gets several items.
void run_output(const LinearOutput& output, const InputRows& input, std::byte* inputs, float* results,
                const Context& context) {
  const int panels = static_cast<const PanelWeight&>(*output.weight).panels(),
            groups = context.expert_groups.count();
  const int per_item =
      std::clamp(panels * groups / (context.pool.threads() * kItemsPerThread), 1, kMostPanelsPerItem);
  const int items = (panels + per_item - 1) / per_item;
  context.pool.for_each(groups * items, [&](int item, int) {
    const int first = item % items * per_item;
    run_expert(output, item / items, first, std::min(panels, first + per_item), input, inputs, results,
               context);
  });
}

// The k largest of one row of logits, and their weights.
void route_row(const float* logits, int experts, int k, int32_t* indices, float* weights) {
  int found = 0;
  for (int e = 0; e < experts; ++e) {  // insertion into the k largest so far; equal ones stay behind
    int place = found;
    while (place > 0 && logits[indices[place - 1]] < logits[e]) --place;
    if (place == k) continue;
    found = std::min(found + 1, k);
    for (int j = found - 1; j > place; --j) indices[j] = indices[j - 1];
    indices[place] = e;
  }
  float total = 0;
  for (int j = 0; j < k; ++j) total += weights[j] = std::exp(logits[indices[j]] - logits[indices[0]]);
  for (int j = 0; j < k; ++j) weights[j] /= total;
}

}  // namespace

void run(const RouteTopK& op, Context& context) {
  const int experts = op.logits.columns, k = op.indices.columns;
  for_row_ranges(context.pool, op.logits.rows, experts, [&](int first, int last) {
    for (int r = first; r < last; ++r)
      route_row(row_pointer(op.logits, r), experts, k, row_pointer<int32_t>(op.indices, r),
                row_pointer(op.weights, r));
  });
}

void run(const ExpertLinear& op, Context& context) {
  const int k = op.indices.columns, slots = op.indices.rows * k;
  if (slots == 0) return;
  const ExpertGroups& groups = context.expert_groups;
  context.expert_groups.make(op.indices, op.outputs[0].weight->count());
  context.expert_matrices.fetch_add(static_cast<uint64_t>(groups.count() * op.count),
                                    std::memory_order_relaxed);
  const InputRows input(op.input, std::span(op.outputs).first(static_cast<size_t>(op.count)),
                        context.kernels);
  const size_t input_bytes = round_to_lines(input.bytes(slots)), spare = input.row_of_floats();
  size_t result_floats = 0;
  for (int o = 0; o < op.count; ++o)
    result_floats =
        std::max(result_floats, static_cast<size_t>(slots) *
                                    static_cast<size_t>(op.outputs[static_cast<size_t>(o)].weight->rows()));
  std::byte* scratch = context.scratch.reserve(
      input_bytes + spare * static_cast<size_t>(context.pool.threads()) + result_floats * sizeof(float));
  std::byte* spares = scratch + input_bytes;
  auto* results = reinterpret_cast<float*>(spares + spare * static_cast<size_t>(context.pool.threads()));
  context.pool.for_each(slots, [&](int place, int thread) {
    const int slot = groups.slot(place);
    input.make(op.input_per_slot ? slot : slot / k, scratch, slots, place,
               spares + spare * static_cast<size_t>(thread));
  });
  for (int o = 0; o < op.count; ++o)
    run_output(op.outputs[static_cast<size_t>(o)], input, scratch, results, context);
}

void run(const CombineExperts& op, Context& context) {
  const int k = op.weights.columns, rows = op.out.rows;
  auto* weights =
      reinterpret_cast<float*>(context.scratch.reserve(static_cast<size_t>(rows * k) * sizeof(float)));
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < k; ++j) {
      const float w = row_pointer(op.weights, r)[j];
      weights[r * k + j] = op.activation == Activation::kSigmoid ? 1.0f / (1.0f + std::exp(-w)) : w;
    }
  for_row_ranges(context.pool, rows, op.out.columns * k, [&](int first, int last) {
    for (int r = first; r < last; ++r) {
      float* out = row_pointer(op.out, r);
      for (int n = 0; n < op.out.columns; ++n) {
        float sum = 0;
        for (int j = 0; j < k; ++j) sum += weights[r * k + j] * row_pointer(op.x, r * k + j)[n];
        out[n] += sum;
      }
    }
  });
}

}  // namespace tempo9::backend::cpu
