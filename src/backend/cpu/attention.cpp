// Writing keys and values into pages, and attention over them.
#include <algorithm>

#include "backend/cpu/attention_plan.h"
#include "backend/cpu/operations.h"

namespace tempo9::backend::cpu {
namespace {

// Products that are worth a thread.
constexpr int64_t kProductsPerThread = 100'000;

// Keys and values of rows first .. last - 1 of a segment.
void write_rows(const KvWrite& op, const KvKernels& kernels, const SegmentRow& seg, int first, int last) {
  const KvShape& shape = op.kv.shape;
  const int32_t* pages = row_pointer<int32_t>(op.page_table, 0) + seg.first_page;
  for (int r = first; r < last; ++r) {
    const int position = seg.first_position + r;
    std::byte* page = page_pointer(op.kv, pages[position / kPageTokens]);
    const float* keys = row_pointer(op.keys, seg.first_row + r);
    const float* values = row_pointer(op.values, seg.first_row + r);
    for (int h = 0; h < shape.heads; ++h)
      kernels.write(page + static_cast<size_t>(h) * kv_head_bytes(shape), {shape.key_size, shape.value_size},
                    position % kPageTokens, keys + h * shape.key_size, values + h * shape.value_size,
                    r + 1 == seg.rows);
  }
}

}  // namespace

void run(const KvWrite& op, Context& context) {
  const KvKernels& kernels = context.kernels.kv[static_cast<int>(op.kv.shape.type)];
  const int elements = op.kv.shape.heads * (op.kv.shape.key_size + op.kv.shape.value_size);
  for (int s = 0; s < op.segments.count; ++s) {
    const SegmentRow& seg = segment(op.segments, s);
    for_row_ranges(context.pool, seg.rows, elements,
                   [&](int first, int last) { write_rows(op, kernels, seg, first, last); });
  }
}

void run(const Attention& op, Context& context) {
  const KvKernels& kernels = context.kernels.kv[static_cast<int>(op.kv.shape.type)];
  AttentionPlan& plan = context.attention_plan;
  plan.make(op, context.pool.threads());
  const size_t thread_floats = attention_scratch_floats({op.kv.shape.key_size, op.kv.shape.value_size});
  const size_t thread_bytes = round_to_lines(thread_floats * sizeof(float));
  std::byte* scratch = context.scratch.reserve(thread_bytes * static_cast<size_t>(context.pool.threads()) +
                                               plan.partial_floats() * sizeof(float));
  auto* partials =
      reinterpret_cast<float*>(scratch + thread_bytes * static_cast<size_t>(context.pool.threads()));

  WorkItems items(static_cast<int>(plan.items().size())), folds(static_cast<int>(plan.cut_blocks().size()));
  const auto work = [&](int thread) {
    auto* own = reinterpret_cast<float*>(scratch + thread_bytes * static_cast<size_t>(thread));
    for (int i; (i = items.take()) >= 0; items.finish()) {
      const auto [number, split] = plan.items()[static_cast<size_t>(i)];
      const AttentionPlan::Block& block = plan.blocks()[static_cast<size_t>(number)];
      if (split == AttentionPlan::kWhole) {
        kernels.attend(block.task, own);
      } else {
        const size_t offset = static_cast<size_t>(split) * partial_floats(block.task.head, block.task.rows);
        kernels.attend_split(block.task, block.first_split + split, own, partials + block.partials + offset);
      }
    }
    if (folds.count() == 0) return;
    items.wait();
    for (int i; (i = folds.take()) >= 0;) {
      const int number = plan.cut_blocks()[static_cast<size_t>(i)];
      const AttentionPlan::Block& block = plan.blocks()[static_cast<size_t>(number)];
      kernels.fold_splits(block.task, partials + block.partials, own);
    }
  };
  if (plan.products() < kProductsPerThread)
    work(0);
  else
    context.pool.run(work);
}

}  // namespace tempo9::backend::cpu
