#include "backend/gpu/operations.h"

#include <algorithm>

#include "backend/gpu/dialect/host.h"
#include "backend/gpu/kernels/args.h"
#include "base/check.h"
#include "base/limits.h"

namespace tempo9::backend::gpu {
namespace {

static_assert(PAGE_TOKENS == limits::kPageTokens);
static_assert(ACTIVATION_CLAMPED_SWIGLU == static_cast<uint>(Activation::kClampedSwiglu));
static_assert(ACTIVATION_GELU_TANH == static_cast<uint>(Activation::kGeluTanh));
static_assert(ACTIVATION_SIGMOID == static_cast<uint>(Activation::kSigmoid));
static_assert(ACTIVATION_SILU == static_cast<uint>(Activation::kSilu));
static_assert(PREPARE_RMS_NORM == static_cast<uint>(LinearInput::Prepare::kRmsNorm));
static_assert(PREPARE_GATED == static_cast<uint>(LinearInput::Prepare::kGated));
static_assert(KV_F32 == static_cast<uint>(KvType::kF32) && KV_F16 == static_cast<uint>(KvType::kF16));
static_assert(KV_BF16 == static_cast<uint>(KvType::kBF16) && KV_Q8_0 == static_cast<uint>(KvType::kQ8_0));

// Partial results of attention: a step of one sequence of any length has room; more rows fill a device
// without being divided.
constexpr size_t kMostPartialBytes = 64 << 20;
// Groups that fill the largest devices: those of attention that are more need not be divided.
constexpr uint kEnoughGroups = 160;

uint number(int value) {
  return static_cast<uint>(value);
}
uint blocks(uint count, uint size) {
  return (count + size - 1) / size;
}
size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Launches of one operation, with its views as addresses.
class Launch {
 public:
  explicit Launch(Launcher& launcher) : launcher_(launcher) {}

  template <class T = float>
  T* at(const View& view) const {
    if (!view) return nullptr;
    return reinterpret_cast<T*>(launcher_.address(*view.buffer) + view.offset);
  }
  const uchar* rows(const Weight& weight) const {
    return reinterpret_cast<const uchar*>(launcher_.rows(weight));
  }
  const Slab* slabs(const SlabTable* table) const {
    return static_cast<const Slab*>(launcher_.slabs(*table));
  }
  ulong* matrices_read() { return reinterpret_cast<ulong*>(launcher_.matrices_read()); }
  std::byte* scratch(size_t bytes) { return launcher_.scratch(bytes); }
  Launcher& launcher() { return launcher_; }

#define GPU_TYPED_LAUNCH(name, Args)             \
  void name(LaunchGrid grid, const Args& args) { \
    launch(KernelId::name, grid, args);          \
  }
  GPU_KERNELS(GPU_TYPED_LAUNCH)
#undef GPU_TYPED_LAUNCH

 private:
  // Bytes between members are made 0, so that equal launches are equal bytes.
  template <class Args>
  void launch(KernelId kernel, LaunchGrid grid, Args args) {
    if (grid.x == 0 || grid.y == 0) return;
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&args);
#endif
    launcher_.launch(kernel, grid, &args, sizeof(args));
  }

  Launcher& launcher_;
};

void run(const EmbedRows& op, Launch launch) {
  launch.embed_rows({number(op.out.rows), blocks(number(op.out.columns), PIECE * uint(GROUP_THREADS))},
                    {.weight = launch.rows(*op.weight),
                     .ids = launch.at<int>(op.ids),
                     .out = launch.at(op.out),
                     .row_bytes = weight_row_bytes(op.weight->format(), op.weight->columns()),
                     .format = static_cast<uint>(op.weight->format()),
                     .columns = number(op.out.columns),
                     .id_stride = number(op.ids.stride),
                     .out_stride = number(op.out.stride),
                     .scale = op.scale});
}

void run(const RmsNorm& op, Launch launch) {
  launch.rms_norm({number(op.x.rows * op.groups)}, {.x = launch.at(op.x),
                                                    .weight = launch.at(op.weight),
                                                    .out = launch.at(op.out),
                                                    .x_stride = number(op.x.stride),
                                                    .out_stride = number(op.out.stride),
                                                    .groups = number(op.groups),
                                                    .size = number(op.x.columns / op.groups),
                                                    .epsilon = op.epsilon,
                                                    .scale = op.scale,
                                                    .add = op.add});
}

// The input of a linear operation: rows of whole pieces on 16-byte boundaries.
struct Input {
  const float* x;
  uint stride;
};

bool usable_as_is(const LinearInput& input) {
  return input.prepare == LinearInput::Prepare::kAsIs && number(input.x.columns) % PIECE == 0 &&
         input.x.stride % 4 == 0;
}

// Scratch that prepare() needs.
size_t prepared_bytes(const LinearInput& input) {
  if (usable_as_is(input)) return 0;
  return static_cast<size_t>(input.x.rows) * round_up(number(input.x.columns), PIECE) * sizeof(float);
}

Input prepare(const LinearInput& input, std::byte* scratch, Launch& launch) {
  if (usable_as_is(input)) return {launch.at(input.x), number(input.x.stride)};
  auto* out = reinterpret_cast<float*>(scratch);
  const auto stride = static_cast<uint>(round_up(number(input.x.columns), PIECE));
  launch.prepare_rows({number(input.x.rows)}, {.x = launch.at(input.x),
                                               .gate = launch.at(input.gate),
                                               .norm_weight = launch.at(input.norm_weight),
                                               .out = out,
                                               .x_stride = number(input.x.stride),
                                               .gate_stride = number(input.gate.stride),
                                               .out_stride = stride,
                                               .columns = number(input.x.columns),
                                               .prepare = static_cast<uint>(input.prepare),
                                               .activation = static_cast<uint>(input.activation),
                                               .epsilon = input.epsilon});
  return {out, stride};
}

LinearArgs linear_args(const LinearOutput& output, Input input, const Launch& launch) {
  const Weight& weight = *output.weight;
  const size_t row_bytes = weight_row_bytes(weight.format(), weight.columns());
  return {.weight = launch.rows(weight),
          .x = input.x,
          .bias = launch.at(output.bias),
          .out = launch.at(output.out),
          .lists = nullptr,
          .row_bytes = row_bytes,
          .matrix_bytes = row_bytes * number(weight.rows()),
          .format = static_cast<uint>(weight.format()),
          .columns = number(weight.columns()),
          .outputs = number(weight.rows()),
          .rows = number(output.out.rows),
          .matrices = number(weight.count()),
          .x_stride = input.stride,
          .out_stride = number(output.out.stride),
          .bias_stride = number(output.bias.stride),
          .add = output.add,
          .slots_per_input = 1};
}

void run(const Linear& op, Launch launch) {
  const size_t bytes = prepared_bytes(op.input);
  std::byte* scratch = bytes == 0 ? nullptr : launch.scratch(bytes);
  if (bytes != 0 && scratch == nullptr) return;
  const Input input = prepare(op.input, scratch, launch);
  for (int o = 0; o < op.count; ++o) {
    const LinearArgs args = linear_args(op.outputs[static_cast<size_t>(o)], input, launch);
    if (o > 0) launch.launcher().run_beside();
    launch.linear({blocks(args.outputs, OUTPUT_TILE), blocks(args.rows, ROW_TILE)}, args);
  }
}

void make_lists(const ExpertLinear& op, std::byte* lists, Launch& launch) {
  launch.expert_lists({number(op.outputs[0].weight->count()) + 1},
                      {.indices = launch.at<int>(op.indices),
                       .lists = reinterpret_cast<int*>(lists),
                       .matrices_read = launch.matrices_read(),
                       .index_stride = number(op.indices.stride),
                       .rows = number(op.indices.rows),
                       .chosen = number(op.indices.columns),
                       .matrices = number(op.outputs[0].weight->count()),
                       .outputs = number(op.count)});
}

void run(const ExpertLinear& op, Launch launch) {
  if (op.indices.rows == 0) return;
  const size_t prepared = round_up(prepared_bytes(op.input), 64);
  std::byte* scratch = launch.scratch(prepared + expert_lists_bytes(op));
  if (scratch == nullptr) return;
  const Input input = prepare(op.input, scratch, launch);
  make_lists(op, scratch + prepared, launch);
  for (int o = 0; o < op.count; ++o) {
    LinearArgs args = linear_args(op.outputs[static_cast<size_t>(o)], input, launch);
    args.lists = reinterpret_cast<int*>(scratch + prepared);
    args.slots_per_input = op.input_per_slot ? 1 : number(op.indices.columns);
    launch.linear({blocks(args.outputs, OUTPUT_TILE), args.matrices}, args);
  }
}

void run(const RopeAngles& op, Launch launch) {
  const uint rows = number(op.out.rows), pairs = number(op.frequencies.columns);
  launch.rope_angles({blocks(rows * pairs, GROUP_THREADS)}, {.positions = launch.at<int>(op.positions),
                                                             .frequencies = launch.at(op.frequencies),
                                                             .axes = launch.at<int>(op.axes),
                                                             .out = launch.at(op.out),
                                                             .position_stride = number(op.positions.stride),
                                                             .out_stride = number(op.out.stride),
                                                             .rows = rows,
                                                             .pairs = pairs,
                                                             .magnitude = op.magnitude,
                                                             .temperature_scale = op.temperature_scale,
                                                             .temperature_length = op.temperature_length});
}

void run(const Rope& op, Launch launch) {
  const uint pairs = number(op.angles.columns / 2);
  launch.rope({blocks(number(op.x.rows * op.heads) * pairs, GROUP_THREADS)},
              {.x = launch.at(op.x),
               .angles = launch.at(op.angles),
               .x_stride = number(op.x.stride),
               .angle_stride = number(op.angles.stride),
               .rows = number(op.x.rows),
               .heads = number(op.heads),
               .head_size = number(op.head_size),
               .pairs = pairs,
               .adjacent = op.pairs == RopePairs::kAdjacent});
}

void run(const KvWrite& op, Launch launch) {
  const KvShape& shape = op.kv.shape;
  const auto of_32 = [](int size) { return blocks(number(size), 32); };
  const uint items =
      number(op.segments.rows * shape.heads) * (of_32(shape.key_size) + of_32(shape.value_size));
  launch.kv_write({blocks(items, GROUP_THREADS)}, {.keys = launch.at(op.keys),
                                                   .values = launch.at(op.values),
                                                   .page_table = launch.at<int>(op.page_table),
                                                   .segments = launch.at<int>(op.segments.table),
                                                   .slabs = launch.slabs(op.kv.slabs),
                                                   .page_bytes = op.kv.page_bytes,
                                                   .layer_offset = op.kv.layer_offset,
                                                   .pages_per_slab = number(op.kv.pages_per_slab),
                                                   .type = static_cast<uint>(shape.type),
                                                   .kv_heads = number(shape.heads),
                                                   .key_size = number(shape.key_size),
                                                   .value_size = number(shape.value_size),
                                                   .key_stride = number(op.keys.stride),
                                                   .value_stride = number(op.values.stride),
                                                   .segment_count = number(op.segments.count),
                                                   .rows = number(op.segments.rows)});
}

}  // namespace

AttentionArgs attention_args(const Attention& op, Launcher& launcher) {
  const Launch launch(launcher);
  const KvShape& shape = op.kv.shape;
  // A window can lie across one split more than it fills.
  uint splits = blocks(number(op.segments.longest), SPLIT_TOKENS);
  if (op.window > 0) splits = std::min(splits, (number(op.window) + SPLIT_TOKENS - 2) / SPLIT_TOKENS + 1);
  return {.queries = launch.at(op.queries),
          .out = launch.at(op.out),
          .page_table = launch.at<int>(op.page_table),
          .segments = launch.at<int>(op.segments.table),
          .slabs = launch.slabs(op.kv.slabs),
          .sinks = launch.at(op.sinks),
          .partial = nullptr,
          .page_bytes = op.kv.page_bytes,
          .layer_offset = op.kv.layer_offset,
          .pages_per_slab = number(op.kv.pages_per_slab),
          .type = static_cast<uint>(shape.type),
          .kv_heads = number(shape.heads),
          .query_heads = number(op.query_heads),
          .key_size = number(shape.key_size),
          .value_size = number(shape.value_size),
          .query_stride = number(op.queries.stride),
          .out_stride = number(op.out.stride),
          .segment_count = number(op.segments.count),
          .window = number(op.window),
          .splits = splits,
          .scale = op.scale};
}

namespace {

void run(const Attention& op, Launch launch) {
  AttentionArgs args = attention_args(op, launch.launcher());
  const uint rows = number(op.segments.rows);
  const uint groups = rows * args.kv_heads * blocks(args.query_heads / args.kv_heads, HEAD_TILE);
  const size_t partial_bytes =
      static_cast<size_t>(rows) * args.query_heads * args.splits * (args.value_size + 2) * sizeof(float);
  if (args.splits <= 1 || groups >= kEnoughGroups || partial_bytes > kMostPartialBytes) {
    launch.attention({groups}, args);
    return;
  }
  args.partial = reinterpret_cast<float*>(launch.scratch(partial_bytes));
  if (args.partial == nullptr) return;
  launch.attention({groups, args.splits}, args);
  launch.attention_merge({rows * args.query_heads}, args);
}

void run(const GatherRows& op, Launch launch) {
  launch.gather_rows({number(op.out.rows), blocks(number(op.out.columns), GROUP_THREADS)},
                     {.x = launch.at(op.x),
                      .indices = launch.at<int>(op.indices),
                      .out = launch.at(op.out),
                      .x_stride = number(op.x.stride),
                      .index_stride = number(op.indices.stride),
                      .out_stride = number(op.out.stride),
                      .columns = number(op.out.columns)});
}

void run(const Softcap& op, Launch launch) {
  launch.softcap(
      {number(op.x.rows), blocks(number(op.x.columns), GROUP_THREADS)},
      {.x = launch.at(op.x), .stride = number(op.x.stride), .columns = number(op.x.columns), .cap = op.cap});
}

void run(const RouteTopK& op, Launch launch) {
  launch.route_top_k({blocks(number(op.logits.rows), GROUP_SIMDS)},
                     {.logits = launch.at(op.logits),
                      .indices = launch.at<int>(op.indices),
                      .weights = launch.at(op.weights),
                      .logit_stride = number(op.logits.stride),
                      .index_stride = number(op.indices.stride),
                      .weight_stride = number(op.weights.stride),
                      .rows = number(op.logits.rows),
                      .experts = number(op.logits.columns),
                      .chosen = number(op.indices.columns)});
}

void run(const CombineExperts& op, Launch launch) {
  launch.combine_experts({number(op.out.rows), blocks(number(op.out.columns), GROUP_THREADS)},
                         {.x = launch.at(op.x),
                          .weights = launch.at(op.weights),
                          .out = launch.at(op.out),
                          .x_stride = number(op.x.stride),
                          .weight_stride = number(op.weights.stride),
                          .out_stride = number(op.out.stride),
                          .columns = number(op.out.columns),
                          .chosen = number(op.weights.columns),
                          .activation = static_cast<uint>(op.activation)});
}

void run(const CopyPages& op, Launch launch) {
  CHECK(op.page_bytes % 16 == 0);
  const auto pieces = static_cast<uint>((op.page_bytes + COPY_BYTES - 1) / COPY_BYTES);
  launch.copy_pages({number(op.pairs.rows), pieces}, {.slabs = launch.slabs(op.slabs),
                                                      .pairs = launch.at<int>(op.pairs),
                                                      .page_bytes = op.page_bytes,
                                                      .pages_per_slab = number(op.pages_per_slab),
                                                      .pair_stride = number(op.pairs.stride)});
}

void run(const CausalConv& op, Launch launch) {
  const CausalConvArgs args = {.x = launch.at(op.x),
                               .weight = launch.at(op.weight),
                               .out = launch.at(op.out),
                               .slots = launch.at<int>(op.slots),
                               .segments = launch.at<int>(op.segments.table),
                               .saves = launch.at<int>(op.saves),
                               .slabs = launch.slabs(op.state.slabs),
                               .slot_bytes = op.state.slot_bytes,
                               .layer_offset = op.state.layer_offset,
                               .slots_per_slab = number(op.state.slots_per_slab),
                               .slot_stride = number(op.slots.stride),
                               .segment_count = number(op.segments.count),
                               .save_count = number(op.saves.rows),
                               .save_stride = number(op.saves.stride),
                               .x_stride = number(op.x.stride),
                               .weight_stride = number(op.weight.stride),
                               .out_stride = number(op.out.stride),
                               .columns = number(op.x.columns),
                               .taps = number(op.weight.columns),
                               .activation = static_cast<uint>(op.activation)};
  const uint column_blocks = blocks(args.columns, GROUP_THREADS);
  launch.causal_conv({number(op.segments.rows), column_blocks}, args);
  launch.causal_conv_states({args.segment_count, column_blocks}, args);
}

void run(const GatedDelta& op, Launch launch) {
  CHECK(number(op.value_size) % DELTA_COLUMNS == 0 && number(op.key_size) <= MOST_DELTA_KEY);
  launch.gated_delta({number(op.segments.count * op.value_heads), number(op.value_size) / DELTA_COLUMNS},
                     {.x = launch.at(op.x),
                      .alpha = launch.at(op.alpha),
                      .beta = launch.at(op.beta),
                      .a = launch.at(op.a),
                      .dt = launch.at(op.dt),
                      .out = launch.at(op.out),
                      .slots = launch.at<int>(op.slots),
                      .segments = launch.at<int>(op.segments.table),
                      .saves = launch.at<int>(op.saves),
                      .slabs = launch.slabs(op.state.slabs),
                      .slot_bytes = op.state.slot_bytes,
                      .layer_offset = op.state.layer_offset,
                      .slots_per_slab = number(op.state.slots_per_slab),
                      .slot_stride = number(op.slots.stride),
                      .save_count = number(op.saves.rows),
                      .save_stride = number(op.saves.stride),
                      .x_stride = number(op.x.stride),
                      .alpha_stride = number(op.alpha.stride),
                      .beta_stride = number(op.beta.stride),
                      .out_stride = number(op.out.stride),
                      .key_heads = number(op.key_heads),
                      .value_heads = number(op.value_heads),
                      .key_size = number(op.key_size),
                      .value_size = number(op.value_size),
                      .epsilon = op.epsilon});
}

}  // namespace

void run_operation(const Op& op, Launcher& launcher) {
  std::visit([&](const auto& operation) { run(operation, Launch(launcher)); }, op);
}

size_t expert_lists_bytes(const ExpertLinear& op) {
  const uint slots = number(op.indices.rows * op.indices.columns);
  return (number(op.outputs[0].weight->count()) + 1 + slots) * sizeof(int);
}

void launch_expert_lists(const ExpertLinear& op, std::byte* lists, Launcher& launcher) {
  Launch launch(launcher);
  make_lists(op, lists, launch);
}

void launch_attention_merge(const AttentionArgs& args, int rows, Launcher& launcher) {
  Launch(launcher).attention_merge({number(rows) * args.query_heads}, args);
}

size_t weight_row_bytes(quant::Format format, int columns) {
  return quant::format_info(format).row_bytes(static_cast<size_t>(columns));
}

Status check_weight(const WeightSource& source) {
  const quant::FormatInfo& format = quant::format_info(source.format);
  if (source.rows <= 0 || source.columns <= 0 || source.count <= 0)
    return fail(ErrorCode::kInvalidArgument, "a weight needs a positive size, not {} x {} x {}", source.count,
                source.rows, source.columns);
  if (source.columns % format.block_columns != 0)
    return fail(ErrorCode::kUnsupported, "a weight in {} has {} columns, which is no multiple of {}",
                format.name, source.columns, format.block_columns);
  const size_t row_bytes = weight_row_bytes(source.format, source.columns);
  const size_t rows = static_cast<size_t>(source.rows) * static_cast<size_t>(source.count);
  if (source.bytes.size() % row_bytes != 0 || source.bytes.size() / row_bytes != rows)
    return fail(ErrorCode::kInvalidArgument, "a weight in {} of {} rows x {} columns cannot have {} bytes",
                format.name, rows, source.columns, source.bytes.size());
  return {};
}

Result<size_t> kv_layer_bytes(const KvShape& shape) {
  for (const int size : {shape.key_size, shape.value_size})
    if (size <= 0 || size % 16 != 0 || number(size) > MOST_HEAD_SIZE)
      return fail(ErrorCode::kUnsupported, "heads of {} values; a GPU takes multiples of 16 up to {}", size,
                  static_cast<uint>(MOST_HEAD_SIZE));
  const auto bytes = [&](int size) {  // of one token of one head; kernels/places.h
    if (shape.type == KvType::kQ8_0) return size + 2 * ((size + 31) / 32);
    return size * (shape.type == KvType::kF32 ? 4 : 2);
  };
  return static_cast<size_t>(limits::kPageTokens) * static_cast<size_t>(shape.heads) *
         static_cast<size_t>(bytes(shape.key_size) + bytes(shape.value_size));
}

}  // namespace tempo9::backend::gpu
