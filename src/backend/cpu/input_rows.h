// The input of a linear operation as kernels read it.
#pragma once
#include <array>
#include <numeric>
#include <span>

#include "backend/cpu/kernels.h"
#include "backend/cpu/panel_weight.h"
#include "backend/cpu/scratch.h"

namespace tempo9::backend::cpu {

// How the input's rows become what kernels read: every form that some output's kernel asks for.
class InputRows {
 public:
  InputRows(const LinearInput& input, std::span<const LinearOutput> outputs, const Kernels& kernels)
      : kernels_(kernels),
        x_(input.x),
        gate_(input.gate),
        recipe_{input.prepare, input.activation, input.epsilon, input.x.columns, nullptr} {
    if (input.norm_weight) recipe_.norm_weight = row_pointer(input.norm_weight, 0);
    for (const LinearOutput& output : outputs) {
      const auto& weight = static_cast<const PanelWeight&>(*output.weight);
      const InputForm form = kernels.linear[weight.format_index()].input;
      strides_[static_cast<size_t>(form)] = bytes_of_row(form);
    }
  }

  int rows() const { return x_.rows; }
  size_t row_of_floats() const {
    return round_to_lines(static_cast<size_t>(recipe_.columns) * sizeof(float));
  }
  size_t bytes(int rows) const {
    return static_cast<size_t>(rows) * std::accumulate(strides_.begin(), strides_.end(), size_t{0});
  }

  // Makes row `row` at `place` of memory for `rows` rows. `spare` takes a row of floats.
  void make(int row, std::byte* memory, int rows, int place, std::byte* spare) const {
    const float* x = row_pointer(x_, row);
    if (prepared()) {
      auto* out = reinterpret_cast<float*>(
          has(InputForm::kFloats) ? row_at(InputForm::kFloats, memory, rows, place) : spare);
      kernels_.prepare_row(recipe_, x, gate_ ? row_pointer(gate_, row) : nullptr, out);
      x = out;
    }
    if (has(InputForm::kBlocks)) {
      std::byte* blocks = row_at(InputForm::kBlocks, memory, rows, place);
      kernels_.quantise_row(x, recipe_.columns, reinterpret_cast<ActivationBlock*>(blocks));
    }
    if (has(InputForm::kBfloats)) {
      std::byte* blocks = row_at(InputForm::kBfloats, memory, rows, place);
      kernels_.split_row(x, recipe_.columns, reinterpret_cast<BfloatBlock*>(blocks));
    }
  }

  // Whether rows must be made at all.
  bool needed() const { return bytes(1) != 0; }

  // Points a task at rows first, first + 1, ... of that memory.
  void select(LinearTask& task, InputForm form, std::byte* memory, int rows, int first) const {
    if (has(form)) {
      task.input = row_at(form, memory, rows, first);
      task.input_stride = strides_[static_cast<size_t>(form)];
    } else {
      task.input = reinterpret_cast<const std::byte*>(row_pointer(x_, first));
      task.input_stride = static_cast<size_t>(x_.stride) * sizeof(float);
    }
  }

 private:
  bool prepared() const { return recipe_.prepare != LinearInput::Prepare::kAsIs; }
  // Floats that are taken as they are need no memory.
  size_t bytes_of_row(InputForm form) const {
    if (form == InputForm::kBlocks) return activation_stride(recipe_.columns);
    if (form == InputForm::kBfloats) return bfloat_stride(recipe_.columns);
    return prepared() ? row_of_floats() : 0;
  }
  bool has(InputForm form) const { return strides_[static_cast<size_t>(form)] != 0; }
  // All rows of one form, then all of the next.
  std::byte* row_at(InputForm form, std::byte* memory, int rows, int place) const {
    for (size_t before = 0; before < static_cast<size_t>(form); ++before)
      memory += static_cast<size_t>(rows) * strides_[before];
    return memory + static_cast<size_t>(place) * strides_[static_cast<size_t>(form)];
  }

  const Kernels& kernels_;
  View x_, gate_;
  RowRecipe recipe_;
  std::array<size_t, kInputForms> strides_{};  // of the rows that are made, by form
};

}  // namespace tempo9::backend::cpu
