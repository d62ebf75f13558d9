// Experts: rows grouped by the matrix they ask for, so that each matrix is read once and only if some row
// asks for it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "backend/cpu/input_rows.h"
#include "backend/cpu/operations.h"

namespace tempo9::backend::cpu {
namespace {

// Which slots each expert has, in ascending order: a counting sort.
struct Groups {
  std::vector<int> experts;  // that have slots
  std::vector<int> begins;   // of each such expert in `slots`; one more at the end
  std::vector<int> slots;
};

Groups group_slots(const View& indices, int experts) {
  const int rows = indices.rows, k = indices.columns;
  Groups groups;
  std::vector<int> counts(static_cast<size_t>(experts) + 1);
  const auto expert_of = [&](int slot) { return row_pointer<int32_t>(indices, slot / k)[slot % k]; };
  for (int s = 0; s < rows * k; ++s) {
    CHECK(expert_of(s) >= 0 && expert_of(s) < experts);
    ++counts[static_cast<size_t>(expert_of(s)) + 1];
  }
  for (size_t e = 1; e < counts.size(); ++e) counts[e] += counts[e - 1];
  groups.slots.resize(static_cast<size_t>(rows * k));
  std::vector<int> next(counts.begin(), counts.end() - 1);
  for (int s = 0; s < rows * k; ++s)
    groups.slots[static_cast<size_t>(next[static_cast<size_t>(expert_of(s))]++)] = s;
  for (int e = 0; e < experts; ++e) {
    if (counts[static_cast<size_t>(e)] == counts[static_cast<size_t>(e) + 1]) continue;
    groups.experts.push_back(e);
    groups.begins.push_back(counts[static_cast<size_t>(e)]);
  }
  groups.begins.push_back(rows * k);
  return groups;
}

// One output of one expert, some panels of it.
void run_expert(const LinearOutput& output, const Groups& groups, int group, int first_panel, int last_panel,
                const InputRows& input, std::byte* inputs, float* results, const Context& context) {
  const auto& weight = static_cast<const PanelWeight&>(*output.weight);
  const int expert = groups.experts[static_cast<size_t>(group)],
            begin = groups.begins[static_cast<size_t>(group)];
  const int slots = static_cast<int>(groups.slots.size());
  LinearTask task{.panels = weight.matrix(expert), .columns = weight.columns(), .outputs = weight.rows()};
  task.first_panel = first_panel;
  task.last_panel = last_panel;
  task.rows = groups.begins[static_cast<size_t>(group) + 1] - begin;
  input.select(task, weight.panels_format().floats, inputs, slots, begin);
  task.out_stride = static_cast<size_t>(weight.rows());
  task.out = results + static_cast<size_t>(begin) * task.out_stride;
  task.bias = output.bias ? row_pointer(output.bias, expert) : nullptr;
  context.kernels.linear[weight.format_index()](task);
  const int first = first_panel * kPanelRows, last = std::min(weight.rows(), last_panel * kPanelRows);
  for (int i = 0; i < task.rows; ++i)
    std::memcpy(row_pointer(output.out, groups.slots[static_cast<size_t>(begin + i)]) + first,
                task.out + static_cast<size_t>(i) * task.out_stride + first,
                static_cast<size_t>(last - first) * sizeof(float));
}

constexpr int kPanelsPerItem = 8;

}  // namespace

void run(const RouteTopK& op, Context&) {
  const int experts = op.logits.columns, k = op.indices.columns;
  for (int r = 0; r < op.logits.rows; ++r) {
    const float* logits = row_pointer(op.logits, r);
    int32_t* indices = row_pointer<int32_t>(op.indices, r);
    float* weights = row_pointer(op.weights, r);
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
}

void run(const ExpertLinear& op, Context& context) {
  const int k = op.indices.columns, slots = op.indices.rows * k;
  if (slots == 0) return;
  const Groups groups = group_slots(op.indices, op.outputs[0].weight->count());
  context.expert_matrices.fetch_add(groups.experts.size() * static_cast<size_t>(op.count),
                                    std::memory_order_relaxed);
  const InputRows input(op.input, std::span(op.outputs).first(static_cast<size_t>(op.count)));
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
    const int slot = groups.slots[static_cast<size_t>(place)];
    input.make(context.kernels, op.input_per_slot ? slot : slot / k, scratch, slots, place,
               spares + spare * static_cast<size_t>(thread));
  });
  for (int o = 0; o < op.count; ++o) {
    const LinearOutput& output = op.outputs[static_cast<size_t>(o)];
    const int panels = static_cast<const PanelWeight&>(*output.weight).panels(),
              blocks = (panels + kPanelsPerItem - 1) / kPanelsPerItem;
    context.pool.for_each(static_cast<int>(groups.experts.size()) * blocks, [&](int item, int) {
      const int first = item % blocks * kPanelsPerItem;
      run_expert(output, groups, item / blocks, first, std::min(panels, first + kPanelsPerItem), input,
                 scratch, results, context);
    });
  }
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
