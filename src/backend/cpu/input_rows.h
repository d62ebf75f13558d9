// The input of a linear operation as kernels read it.
#pragma once
#include <span>

#include "backend/cpu/kernels.h"
#include "backend/cpu/panel_weight.h"
#include "backend/cpu/scratch.h"

namespace tempo9::backend::cpu {

// How the input's rows become what kernels read: activation blocks for quantised formats, floats for the
// others, both if the outputs differ.
class InputRows {
 public:
  InputRows(const LinearInput& input, std::span<const LinearOutput> outputs)
      : x_(input.x),
        gate_(input.gate),
        recipe_{input.prepare, input.activation, input.epsilon, input.x.columns, nullptr} {
    if (input.norm_weight) recipe_.norm_weight = row_pointer(input.norm_weight, 0);
    for (const LinearOutput& output : outputs) {
      const auto& weight = static_cast<const PanelWeight&>(*output.weight);
      if (!weight.panels_format().floats)
        block_stride_ = activation_stride(recipe_.columns);
      else if (prepared())
        float_stride_ = row_of_floats();
    }
  }

  int rows() const { return x_.rows; }
  int columns() const { return recipe_.columns; }
  size_t row_of_floats() const {
    return round_to_lines(static_cast<size_t>(recipe_.columns) * sizeof(float));
  }
  size_t bytes(int rows) const { return static_cast<size_t>(rows) * (block_stride_ + float_stride_); }

  // Makes row `row` at `place` of memory for `rows` rows. `spare` takes a row of floats.
  void make(const Kernels& kernels, int row, std::byte* memory, int rows, int place, std::byte* spare) const {
    const float* x = row_pointer(x_, row);
    if (prepared()) {
      std::byte* target = float_stride_ == 0 ? spare : floats_at(memory, rows, place);
      auto* out = reinterpret_cast<float*>(target);
      kernels.prepare_row(recipe_, x, gate_ ? row_pointer(gate_, row) : nullptr, out);
      x = out;
    }
    if (block_stride_ == 0) return;
    std::byte* blocks = memory + static_cast<size_t>(place) * block_stride_;
    kernels.quantise_row(x, recipe_.columns, reinterpret_cast<ActivationBlock*>(blocks));
  }

  // Whether rows must be made at all.
  bool needed() const { return block_stride_ + float_stride_ != 0; }

  // Points a task at rows first, first + 1, ... of that memory.
  void select(LinearTask& task, bool floats, std::byte* memory, int rows, int first) const {
    if (!floats) {
      task.input = memory + static_cast<size_t>(first) * block_stride_;
      task.input_stride = block_stride_;
    } else if (prepared()) {
      task.input = floats_at(memory, rows, first);
      task.input_stride = float_stride_;
    } else {
      task.input = reinterpret_cast<const std::byte*>(row_pointer(x_, first));
      task.input_stride = static_cast<size_t>(x_.stride) * sizeof(float);
    }
  }

 private:
  bool prepared() const { return recipe_.prepare != LinearInput::Prepare::kAsIs; }
  std::byte* floats_at(std::byte* memory, int rows, int place) const {
    return memory + static_cast<size_t>(rows) * block_stride_ + static_cast<size_t>(place) * float_stride_;
  }

  View x_, gate_;
  RowRecipe recipe_;
  size_t block_stride_ = 0, float_stride_ = 0;
};

}  // namespace tempo9::backend::cpu
