// The linear operation: the rows of the input are made once, then threads take groups of panels and rows as
// they come. One row is made by every thread for itself: that is as fast as waiting for another to do it (and
// the reason why outputs may not overlap the input).
#include <algorithm>
#include <array>
#include <span>

#include "backend/cpu/input_rows.h"
#include "backend/cpu/operations.h"

namespace tempo9::backend::cpu {
namespace {

// Weights that stay in a core's second-level cache while rows pass; and what one item reads if the rows are
// few and the work is reading.
constexpr size_t kGroupBytes = 256 << 10, kStretchBytes = 128 << 10;
// Rows that pass before the next group: their activations share that cache.
constexpr int kRowsPerItem = 64;
constexpr int kFewRows = 8;

// The outputs of an operation, cut into items: groups of panels, and within a group blocks of rows.
class OutputItems {
 public:
  OutputItems(const Linear& op, const Context& context) : rows_(op.input.x.rows) {
    rows_per_item_ = rows_ <= kFewRows ? kFewRows : kRowsPerItem;
    row_blocks_ = (rows_ + rows_per_item_ - 1) / rows_per_item_;
    for (int i = 0; i < op.count; ++i) add(op.outputs[static_cast<size_t>(i)], context);
  }

  int count() const { return count_ == 0 ? 0 : outputs_[static_cast<size_t>(count_ - 1)].last_item; }

  void run(int item, const InputRows& input, std::byte* memory) const {
    const Output* output = outputs_.data();
    while (item >= output->last_item) ++output;
    const int local = item - output->first_item;
    const int group = local / row_blocks_, first_row = local % row_blocks_ * rows_per_item_;
    LinearTask task = output->task;
    task.first_panel = group * output->panels_per_item;
    task.last_panel = std::min(output->panels, task.first_panel + output->panels_per_item);
    task.rows = std::min(rows_per_item_, rows_ - first_row);
    task.out += static_cast<size_t>(first_row) * task.out_stride;
    input.select(task, output->kernel.input, memory, rows_, first_row);
    output->kernel.run(task);
  }

 private:
  struct Output {
    LinearKernel kernel;
    LinearTask task;
    int panels, panels_per_item;
    int first_item, last_item;
  };

  void add(const LinearOutput& output, const Context& context) {
    const auto& weight = static_cast<const PanelWeight&>(*output.weight);
    const int wanted_items = context.pool.threads() * kItemsPerThread;
    const size_t most_bytes = rows_ <= kFewRows ? kStretchBytes : kGroupBytes;
    const int most_panels = static_cast<int>(std::max<size_t>(1, most_bytes / weight.panel_bytes()));
    const int per_item = std::clamp(weight.panels() * row_blocks_ / wanted_items, 1, most_panels);
    const int items = (weight.panels() + per_item - 1) / per_item * row_blocks_;
    outputs_[static_cast<size_t>(count_)] = {
        .kernel = context.kernels.linear[weight.format_index()],
        .task = {.panels = weight.matrix(0),
                 .columns = weight.columns(),
                 .outputs = weight.rows(),
                 .out = row_pointer(output.out, 0),
                 .out_stride = static_cast<size_t>(output.out.stride),
                 .bias = output.bias ? row_pointer(output.bias, 0) : nullptr,
                 .add = output.add},
        .panels = weight.panels(),
        .panels_per_item = per_item,
        .first_item = count(),
        .last_item = count() + items,
    };
    ++count_;
  }

  int rows_, rows_per_item_ = 0, row_blocks_ = 0;
  std::array<Output, std::tuple_size_v<decltype(Linear::outputs)>> outputs_{};
  int count_ = 0;
};

}  // namespace

void run(const Linear& op, Context& context) {
  if (op.input.x.rows == 0) return;
  const InputRows input(op.input, std::span(op.outputs).first(static_cast<size_t>(op.count)),
                        context.kernels);
  const OutputItems outputs(op, context);
  const int rows = input.rows();
  const bool shared = rows > 1;
  // Shared rows first, then for each thread a spare row, or a whole input of its own.
  const size_t shared_bytes = shared ? input.bytes(rows) : 0;
  const size_t thread_bytes = input.row_of_floats() + (shared ? 0 : input.bytes(1));
  std::byte* scratch =
      context.scratch.reserve(shared_bytes + thread_bytes * static_cast<size_t>(context.pool.threads()));
  WorkItems to_make(shared && input.needed() ? rows : 0), to_compute(outputs.count());
  context.pool.run([&](int thread) {
    std::byte* own = scratch + shared_bytes + thread_bytes * static_cast<size_t>(thread);
    std::byte* memory = shared ? scratch : own + input.row_of_floats();
    if (!shared) input.make(0, memory, 1, 0, own);
    for (int row; (row = to_make.take()) >= 0; to_make.finish()) input.make(row, memory, rows, row, own);
    to_make.wait();
    for (int item; (item = to_compute.take()) >= 0;) outputs.run(item, input, memory);
  });
}

}  // namespace tempo9::backend::cpu
