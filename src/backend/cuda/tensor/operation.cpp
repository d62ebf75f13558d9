#include "backend/cuda/tensor/operation.h"

#include <algorithm>
#include <cmath>

#include "backend/cuda/cuda_weight.h"
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/repack.h"
#include "backend/gpu/operations.h"

namespace tempo9::backend::cuda {

extern const void* const kMakePanels[2];  // kernels.cu
extern const void* const kLinearKernels[][kLinearKernelCount];

namespace {

// Most rows of the kernels for few: of those that are as fast for all of them, and of all.
constexpr uint32_t kFewRows = 8, kMostFewRows = 32;
// With so many columns a part of a row is work for several warps.
constexpr int kManyColumns = 8192;
// Fewer blocks leave too much of a chip idle: of the kernel for many rows, and of that of a large chip's warp
// groups.
constexpr uint32_t kLeastManyBlocks = 64, kLeastWideBlocks = 96;

// Of a large chip, whose blocks for few rows are two or three on each multiprocessor.
constexpr uint32_t kMultiprocessors = 132;

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

// Rows are read in pairs of columns.
bool has_pairs(const LinearInput& input) {
  const auto whole = [](const View& view) { return view.stride % 2 == 0 || view.rows <= 1; };
  return whole(input.x) && whole(input.gate);
}

InputArgs input_args(const LinearInput& input, const gpu::Launcher& launcher) {
  return {.x = at(input.x, launcher),
          .gate = at(input.gate, launcher),
          .norm_weight = at(input.norm_weight, launcher),
          .x_stride = number(input.x.stride),
          .gate_stride = number(input.gate.stride),
          .columns = number(input.x.columns),
          .prepare = static_cast<uint32_t>(input.prepare),
          .activation = static_cast<uint32_t>(input.activation),
          .epsilon = input.epsilon};
}

// The input as f16, in scratch memory, with `more` bytes behind it.
struct Prepared {
  bool panels;                   // or rows (PanelArgs)
  std::byte* scratch = nullptr;  // null: there was no memory
  size_t input_bytes, bytes;
  uint32_t tiles;

  Prepared(const LinearInput& input, bool as_panels, size_t more, gpu::Launcher& launcher)
      : panels(as_panels), tiles(blocks(number(input.x.rows), 8)) {
    input_bytes = static_cast<size_t>(tiles) * 16 * number(input.x.columns);
    bytes = round_up(input_bytes + 2 * kParts * 8 * tiles * sizeof(float));
    scratch = launcher.scratch(bytes + more);
  }
  uint32_t* data() const { return reinterpret_cast<uint32_t*>(scratch); }
  float* row_factors() const { return reinterpret_cast<float*>(scratch + input_bytes); }
};

void prepare(const LinearInput& input, const Prepared& prepared, const gpu::Launcher& launcher,
             LaunchQueue& queue) {
  const uint32_t rows = number(input.x.rows);
  const PanelArgs args = {.input = input_args(input, launcher),
                          .out = prepared.data(),
                          .row_factors = prepared.row_factors(),
                          .rows = rows,
                          .tiles = prepared.tiles,
                          .panels = prepared.panels,
                          .unused = 0};
  // Of a norm, whose sum has its order, a warp works on each part of a row.
  const bool eight = input.prepare != LinearInput::Prepare::kRmsNorm &&
                     (rows <= kMostFewRows || input.x.columns >= kManyColumns);
  queue.add(kMakePanels[eight], kPanelThreads, {eight ? rows : prepared.tiles, kParts}, args);
}

TensorLayout layout_of(const LinearOutput& output) {
  return static_cast<const CudaWeight*>(output.weight)->layout();
}

TensorOutput tensor_output(const LinearOutput& output, const gpu::Launcher& launcher) {
  const auto& weight = static_cast<const CudaWeight&>(*output.weight);
  return {.weight = reinterpret_cast<const uint8_t*>(weight.stages_address()),
          .bias = at(output.bias, launcher),
          .out = at(output.out, launcher),
          .matrix_bytes = static_cast<uint64_t>(row_groups(weight.rows())) *
                          number(weight.columns() / kStageColumns) * number(stage_bytes(weight.layout())),
          .outputs = number(weight.rows()),
          .out_stride = number(output.out.stride),
          .bias_stride = number(output.bias.stride),
          .add = output.add,
          .first_block = 0,
          .weight_factor = std::ldexp(1.0f, -weight.exponent())};
}

TensorArgs tensor_args(const LinearInput& input, const Weight& weight, uint32_t rows,
                       const gpu::Launcher& launcher) {
  TensorArgs args{};
  args.input = input_args(input, launcher);
  args.rows = rows;
  args.matrices = number(weight.count());
  args.stages = number(weight.columns()) / kStageColumns;
  args.slots_per_input = 1;
  return args;
}

void set_prepared(TensorArgs& args, const Prepared& prepared) {
  args.rows_or_panels = prepared.data();
  args.row_factors = prepared.row_factors();
  args.tiles = prepared.tiles;
}

// Numbers the blocks of a launch: `of_block` outputs each. How many there are.
uint32_t number_blocks(TensorArgs& args, uint32_t of_block) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < args.count; ++i) {
    args.output[i].first_block = first;
    first += blocks(args.output[i].outputs, of_block);
  }
  return first;
}

// Blocks along x for units of sixteen outputs: as many as a large chip has room for, or fewer where those
// share the work as evenly, so that the next launch's blocks come early and ask for their weights.
uint32_t few_blocks(uint32_t units, uint32_t along_y, uint32_t together, uint32_t shared, uint32_t least) {
  constexpr uint32_t kShared = 227 << 10;  // of a multiprocessor
  together = std::max(std::min(together, kShared / (shared + 1024)), 2u);
  const auto along_x = [&](uint32_t n) { return std::max(n * kMultiprocessors / along_y, least); };
  const auto turns = [&](uint32_t n) { return double(blocks(units, along_x(n))) * along_x(n); };
  return std::min(units, along_x(turns(together) < 1.05 * turns(together - 1) ? together : together - 1));
}

// Whether each block may prepare the only row for itself: an activation of so many columns is worth a launch
// of its own.
bool can_be_alone(const LinearInput& input) {
  constexpr int kMostColumns = 16384,
                kMostGated = 4096;  // which shared memory has room for; which take as long
  return input.x.columns <= (input.prepare == LinearInput::Prepare::kGated ? kMostGated : kMostColumns);
}

// The only row, or, of stacks, the rows of its `slots`.
void add_alone(TensorLayout layout, TensorArgs args, uint32_t slots, bool beside, LaunchQueue& queue) {
  const uint32_t units = number_blocks(args, kStageRows);
  const uint32_t shared = few_shared(layout, 1) + args.stages * kStageColumns * 2;
  const bool gated = args.input.prepare == static_cast<uint32_t>(LinearInput::Prepare::kGated);
  queue.add(kLinearKernels[static_cast<size_t>(layout)][gated ? kAloneGated : kAlone], kTensorThreads,
            {few_blocks(units, slots, 4, shared, 1), slots}, args, shared, beside);
}

// Blocks of `tiles` tiles that rows make.
uint32_t row_blocks(uint32_t rows, uint32_t tiles) {
  return blocks(rows, 8 * tiles);
}

// With kernels that read rows. `rows`: that a matrix is multiplied with, on average if it is one of a stack;
// `spans`: blocks that stacks need for them, else 0.
void add_by_rows(TensorLayout layout, TensorArgs args, uint32_t rows, uint32_t spans, bool beside,
                 LaunchQueue& queue) {
  const auto* kernels = kLinearKernels[static_cast<size_t>(layout)];
  const uint32_t many_x = number_blocks(args, kManyOutputs),
                 many_y = spans > 0 ? spans : blocks(rows, kManyRows);
  if (rows > kMostFewRows && many_x * many_y >= kLeastManyBlocks) {
    queue.add(kernels[kMany], kTensorThreads, {many_x, many_y}, args, 0, beside);
    return;
  }
  const uint32_t kind = rows <= 8 ? kFewOne : rows <= 16 ? kFewTwo : kFewFour;
  const uint32_t few_y = spans > 0 ? spans : row_blocks(rows, 1u << kind);
  const uint32_t units = number_blocks(args, kStageRows);
  const uint32_t shared = few_shared(layout, 8u << kind);
  // Some matrices of stacks have more rows than others.
  const uint32_t few_x = few_blocks(units, few_y, kind == kFewOne ? 3 : 2, shared, spans > 0 ? 16 : 1);
  queue.add(kernels[kind], kTensorThreads, {few_x, few_y}, args, shared, beside);
}

// With kernels that read panels.
void add_by_panels(TensorLayout layout, TensorArgs args, uint32_t rows, bool beside, LaunchQueue& queue) {
  const auto* kernels = kLinearKernels[static_cast<size_t>(layout)];
  const uint32_t wide_x = number_blocks(args, kWideOutputs), wide_y = row_blocks(rows, kWideTiles);
  if (rows > 64 && wide_x * wide_y >= kLeastWideBlocks) {
    queue.add(kernels[kWide], kWideThreads, {wide_x, wide_y}, args, kWideShared, beside);
    return;
  }
  const uint32_t kind = rows <= 16   ? kSomeTwo
                        : rows <= 32 ? kSomeFour
                                     : kSomeEight,
                 tiles = 2u << (kind - kSomeTwo), some_x = number_blocks(args, kSomeOutputs);
  queue.add(kernels[kind], kSomeThreads, {some_x, row_blocks(rows, tiles)}, args, some_shared(tiles), beside);
}

// Outputs whose weights lie alike share a launch; add() is told whether it may run beside the last, as the
// first may if `beside`.
template <class Operation, class Add>
void add_outputs(const Operation& op, const TensorArgs& common, const gpu::Launcher& launcher, bool beside,
                 const Add& add) {
  for (const TensorLayout layout : {TensorLayout::kNibble32, TensorLayout::kFive32, TensorLayout::kSix16,
                                    TensorLayout::kByte32, TensorLayout::kThree16, TensorLayout::kE2m1}) {
    TensorArgs args = common;
    for (int o = 0; o < op.count; ++o) {
      const LinearOutput& output = op.outputs[static_cast<size_t>(o)];
      if (layout_of(output) == layout) args.output[args.count++] = tensor_output(output, launcher);
    }
    if (args.count == 0) continue;
    add(layout, args, beside);
    beside = true;
  }
}

}  // namespace

bool prepares_itself(const Linear& op) {
  return op.input.x.rows == 1 && can_be_alone(op.input);
}
bool prepares_itself(const ExpertLinear& op) {
  return op.indices.rows == 1 && op.indices.columns < op.outputs[0].weight->count() && can_be_alone(op.input);
}

Linear run_on_tensor_cores(const Linear& op, gpu::Launcher& launcher, LaunchQueue& queue, bool beside) {
  if (!has_pairs(op.input)) return op;
  const auto [tensor, rest] = divide(op);
  const uint32_t rows = number(op.input.x.rows);
  if (tensor.count == 0 || rows == 0) return rest;
  TensorArgs args = tensor_args(op.input, *tensor.outputs[0].weight, rows, launcher);
  if (prepares_itself(op)) {
    add_outputs(tensor, args, launcher, beside,
                [&](TensorLayout layout, const TensorArgs& of_layout, bool free) {
                  add_alone(layout, of_layout, 1, free, queue);
                });
    return rest;
  }
  const Prepared prepared(op.input, rows > kFewRows && queue.warp_groups(), 0, launcher);
  if (prepared.scratch == nullptr) return rest;
  prepare(op.input, prepared, launcher, queue);
  set_prepared(args, prepared);
  add_outputs(tensor, args, launcher, false,
              [&](TensorLayout layout, const TensorArgs& of_layout, bool free) {
                if (prepared.panels)
                  add_by_panels(layout, of_layout, rows, free, queue);
                else
                  add_by_rows(layout, of_layout, rows, 0, free, queue);
              });
  return rest;
}

ExpertLinear run_on_tensor_cores(const ExpertLinear& op, gpu::Launcher& launcher, LaunchQueue& queue) {
  if (!has_pairs(op.input)) return op;
  const auto [tensor, rest] = divide(op);
  const uint32_t rows = number(op.indices.rows), chosen = number(op.indices.columns), slots = rows * chosen;
  if (tensor.count == 0 || rows == 0) return rest;
  TensorArgs args = tensor_args(op.input, *tensor.outputs[0].weight, rows, launcher);
  args.slots_per_input = op.input_per_slot ? 1 : chosen;
  args.chosen = chosen;
  args.index_stride = number(op.indices.stride);
  args.matrices_read = reinterpret_cast<unsigned long long*>(launcher.matrices_read());
  if (slots < args.matrices) args.indices = at<const int>(op.indices, launcher);
  if (prepares_itself(op)) {
    add_outputs(tensor, args, launcher, false,
                [&](TensorLayout layout, const TensorArgs& of_layout, bool free) {
                  add_alone(layout, of_layout, slots, free, queue);
                });
    return rest;
  }
  const Prepared prepared(op.input, false, gpu::expert_lists_bytes(tensor), launcher);
  if (prepared.scratch == nullptr) return rest;
  prepare(op.input, prepared, launcher, queue);
  set_prepared(args, prepared);
  if (rows > 1 || args.indices == nullptr) {
    std::byte* lists = prepared.scratch + prepared.bytes;
    gpu::launch_expert_lists(tensor, lists, launcher);
    args.lists = reinterpret_cast<const int*>(lists);
  }
  add_outputs(tensor, args, launcher, false,
              [&](TensorLayout layout, const TensorArgs& of_layout, bool free) {
                add_by_rows(layout, of_layout, blocks(slots, args.matrices), std::min(slots, args.matrices),
                            free, queue);
              });
  return rest;
}

}  // namespace tempo9::backend::cuda
