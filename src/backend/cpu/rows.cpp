// Operations whose rows are independent and cheap.
#include <cstring>

#include "backend/cpu/operations.h"
#include "backend/cpu/panel_weight.h"
#include "backend/reference/reference_kernels.h"

namespace tempo9::backend::cpu {

void run(const EmbedRows& op, Context& context) {
  const auto& weight = static_cast<const PanelWeight&>(*op.weight);
  for_row_ranges(context.pool, op.out.rows, op.out.columns, [&](int first, int last) {
    for (int r = first; r < last; ++r) {
      const int32_t id = *row_pointer<int32_t>(op.ids, r);
      CHECK(id >= 0 && id < weight.rows());
      float* out = row_pointer(op.out, r);
      weight.decode_row(id, out);
      if (op.scale == 1.0f) continue;
      for (int k = 0; k < op.out.columns; ++k) out[k] *= op.scale;
    }
  });
}

void run(const RmsNorm& op, Context& context) {
  const int columns = op.x.columns / op.groups;
  const RowRecipe recipe{
      .prepare = LinearInput::Prepare::kRmsNorm,
      .epsilon = op.epsilon,
      .columns = columns,
      .norm_weight = op.weight ? row_pointer(op.weight, 0) : nullptr,
  };
  const size_t spare = round_to_lines(static_cast<size_t>(columns) * sizeof(float));
  std::byte* scratch =
      op.add ? context.scratch.reserve(spare * static_cast<size_t>(context.pool.threads())) : nullptr;
  const int per_item = std::max(1, kElementsPerItem / op.x.columns);
  context.pool.for_each((op.x.rows + per_item - 1) / per_item, [&](int item, int thread) {
    auto* normed = reinterpret_cast<float*>(scratch + spare * static_cast<size_t>(thread));
    for (int r = item * per_item; r < std::min(op.x.rows, (item + 1) * per_item); ++r)
      for (int g = 0; g < op.groups; ++g) {
        const float* x = row_pointer(op.x, r) + g * columns;
        float* out = row_pointer(op.out, r) + g * columns;
        context.kernels.prepare_row(recipe, x, nullptr, op.add ? normed : out);
        for (int k = 0; op.add && k < columns; ++k) out[k] = (out[k] + normed[k]) * op.scale;
      }
  });
}

// On one thread, once a step; nothing to gain over the plain loop.
void run(const RopeAngles& op, Context&) {
  reference::run(op);
}

void run(const Softcap& op, Context& context) {
  for_row_ranges(context.pool, op.x.rows, op.x.columns, [&](int first, int last) {
    for (int r = first; r < last; ++r)
      context.kernels.softcap_row(op.cap, row_pointer(op.x, r), op.x.columns);
  });
}

void run(const Rope& op, Context& context) {
  const RotateTask task{
      .pairs = op.angles.columns / 2,
      .split = op.pairs == RopePairs::kSplit,
      .heads = op.heads,
      .head_size = op.head_size,
  };
  const size_t row_bytes = round_to_lines(2 * static_cast<size_t>(task.pairs) * sizeof(float));
  std::byte* scratch = context.scratch.reserve(row_bytes * static_cast<size_t>(context.pool.threads()));
  const int elements = op.heads * op.head_size;
  const int per_item = std::max(1, kElementsPerItem / elements);
  context.pool.for_each((op.x.rows + per_item - 1) / per_item, [&](int item, int thread) {
    auto* own = reinterpret_cast<float*>(scratch + row_bytes * static_cast<size_t>(thread));
    for (int r = item * per_item; r < std::min(op.x.rows, (item + 1) * per_item); ++r) {
      RotateTask row = task;
      row.angles = row_pointer(op.angles, r);
      context.kernels.rotate_row(row, row_pointer(op.x, r), own);
    }
  });
}

void run(const GatherRows& op, Context& context) {
  const size_t bytes = static_cast<size_t>(op.out.columns) * sizeof(float);
  for_row_ranges(context.pool, op.out.rows, op.out.columns, [&](int first, int last) {
    for (int r = first; r < last; ++r)
      std::memcpy(row_pointer(op.out, r), row_pointer(op.x, *row_pointer<int32_t>(op.indices, r)), bytes);
  });
}

}  // namespace tempo9::backend::cpu
