#include "backend/cuda/tensor/operation.h"

#include <cmath>

#include "backend/cuda/cuda_weight.h"
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/repack.h"
#include "backend/gpu/operations.h"

namespace tempo9::backend::cuda {

extern const void* const kMakePanels;  // kernels.cu
extern const void* const kLinearKernels[][4];

namespace {

// The kernel for many rows reads each row for more outputs at a time, but needs rows and outputs enough to
// fill the chip: fewer blocks than this leave too much of it idle.
constexpr uint32_t kLeastManyBlocks = 64;
constexpr uint32_t kFewRows = 32;  // most rows of a block of the kernel for few

uint32_t number(int value) {
  return static_cast<uint32_t>(value);
}
uint32_t blocks(uint32_t count, uint32_t size) {
  return (count + size - 1) / size;
}
size_t round_up(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

template <class T = float>
T* at(const View& view, const gpu::Launcher& launcher) {
  if (!view) return nullptr;
  return reinterpret_cast<T*>(launcher.address(*view.buffer) + view.offset);
}

// An operation's outputs by who computes them.
template <class Operation>
struct Divided {
  Operation tensor, rest;
};
template <class Operation>
Divided<Operation> divide(const Operation& op) {
  Divided<Operation> divided{op, op};
  divided.tensor.count = divided.rest.count = 0;
  for (int o = 0; o < op.count; ++o) {
    const LinearOutput& output = op.outputs[static_cast<size_t>(o)];
    Operation& part = static_cast<const CudaWeight*>(output.weight)->layout() == TensorLayout::kNone
                          ? divided.rest
                          : divided.tensor;
    part.outputs[static_cast<size_t>(part.count++)] = output;
  }
  return divided;
}

// The input in panels, in scratch memory, with `more` bytes behind it.
struct Panels {
  std::byte* scratch = nullptr;  // null: there was no memory
  size_t panel_bytes, bytes;
  uint32_t tiles;

  Panels(const LinearInput& input, size_t more, gpu::Launcher& launcher)
      : panel_bytes(static_cast<size_t>(blocks(number(input.x.rows), 8)) * 16 * number(input.x.columns)),
        bytes(round_up(panel_bytes + number(input.x.rows) * sizeof(float))),
        tiles(blocks(number(input.x.rows), 8)) {
    scratch = launcher.scratch(bytes + more);
  }
  uint32_t* panels() const { return reinterpret_cast<uint32_t*>(scratch); }
  float* row_factors() const { return reinterpret_cast<float*>(scratch + panel_bytes); }
};

void make_panels(const LinearInput& input, const Panels& panels, const gpu::Launcher& launcher,
                 LaunchQueue& queue) {
  const PanelArgs args = {.x = at(input.x, launcher),
                          .gate = at(input.gate, launcher),
                          .norm_weight = at(input.norm_weight, launcher),
                          .panels = panels.panels(),
                          .row_factors = panels.row_factors(),
                          .x_stride = number(input.x.stride),
                          .gate_stride = number(input.gate.stride),
                          .columns = number(input.x.columns),
                          .tiles = panels.tiles,
                          .prepare = static_cast<uint32_t>(input.prepare),
                          .activation = static_cast<uint32_t>(input.activation),
                          .epsilon = input.epsilon};
  queue.add(kMakePanels, kPanelThreads, {number(input.x.rows), 1}, args);
}

TensorArgs tensor_args(const LinearOutput& output, const Panels& panels, const gpu::Launcher& launcher) {
  const auto& weight = static_cast<const CudaWeight&>(*output.weight);
  const uint32_t stages = number(weight.columns()) / kStageColumns;
  return {.weight = reinterpret_cast<const uint8_t*>(weight.stages_address()),
          .panels = panels.panels(),
          .row_factors = panels.row_factors(),
          .bias = at(output.bias, launcher),
          .out = at(output.out, launcher),
          .lists = nullptr,
          .matrix_bytes = static_cast<uint64_t>(row_groups(weight.rows())) * stages *
                          number(stage_bytes(weight.layout())),
          .outputs = number(weight.rows()),
          .rows = number(output.out.rows),
          .matrices = number(weight.count()),
          .stages = stages,
          .tiles = panels.tiles,
          .out_stride = number(output.out.stride),
          .bias_stride = number(output.bias.stride),
          .add = output.add,
          .slots_per_input = 1,
          .weight_factor = std::ldexp(1.0f, -weight.exponent())};
}

// `rows`: that a matrix is multiplied with, on average if it is one of a stack.
void add_linear(const LinearOutput& output, const TensorArgs& args, uint32_t rows, LaunchQueue& queue) {
  const auto* kernels =
      kLinearKernels[static_cast<size_t>(static_cast<const CudaWeight*>(output.weight)->layout())];
  const bool stack = args.lists != nullptr;
  const uint32_t many_x = blocks(args.outputs, kManyOutputs),
                 many_y = stack ? args.matrices : blocks(rows, kManyRows);
  if (rows > kFewRows && many_x * many_y >= kLeastManyBlocks) {
    queue.add(kernels[3], kTensorThreads, {many_x, many_y}, args);
    return;
  }
  const uint32_t kind = rows <= 8 ? 0 : rows <= 16 ? 1 : 2;
  const uint32_t rows_of_block = 8u << kind;
  queue.add(kernels[kind], kTensorThreads,
            {blocks(args.outputs, kStageRows), stack ? args.matrices : blocks(rows, rows_of_block)}, args);
}

}  // namespace

Linear run_on_tensor_cores(const Linear& op, gpu::Launcher& launcher, LaunchQueue& queue) {
  const auto [tensor, rest] = divide(op);
  const uint32_t rows = number(op.input.x.rows);
  if (tensor.count == 0 || rows == 0) return rest;
  const Panels panels(op.input, 0, launcher);
  if (panels.scratch == nullptr) return rest;
  make_panels(op.input, panels, launcher, queue);
  for (int o = 0; o < tensor.count; ++o) {
    const LinearOutput& output = tensor.outputs[static_cast<size_t>(o)];
    add_linear(output, tensor_args(output, panels, launcher), rows, queue);
  }
  return rest;
}

ExpertLinear run_on_tensor_cores(const ExpertLinear& op, gpu::Launcher& launcher, LaunchQueue& queue) {
  const auto [tensor, rest] = divide(op);
  const uint32_t rows = number(op.indices.rows), chosen = number(op.indices.columns);
  if (tensor.count == 0 || rows == 0) return rest;
  const uint32_t matrices = number(tensor.outputs[0].weight->count());
  const Panels panels(op.input, gpu::expert_lists_bytes(tensor), launcher);
  if (panels.scratch == nullptr) return rest;
  make_panels(op.input, panels, launcher, queue);
  std::byte* lists = panels.scratch + panels.bytes;
  gpu::launch_expert_lists(tensor, lists, launcher);
  for (int o = 0; o < tensor.count; ++o) {
    const LinearOutput& output = tensor.outputs[static_cast<size_t>(o)];
    TensorArgs args = tensor_args(output, panels, launcher);
    args.lists = reinterpret_cast<const int*>(lists);
    args.slots_per_input = op.input_per_slot ? 1 : chosen;
    add_linear(output, args, blocks(rows * chosen, matrices), queue);
  }
  return rest;
}

}  // namespace tempo9::backend::cuda
