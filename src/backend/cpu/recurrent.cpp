// Layers with a state. Threads share channels and heads, never tokens.
#include <cmath>
#include <cstring>

#include "backend/cpu/operations.h"
#include "backend/host/host_state.h"

namespace tempo9::backend::cpu {
namespace {

constexpr int kChannelsPerItem = 256;
constexpr int kColumnsPerItem = 16;

// Channels first .. last - 1 of some rows of one sequence.
void convolve(const CausalConv& op, const SegmentRow& seg, float* state, int first, int last) {
  const int columns = op.x.columns, taps = op.weight.columns;
  for (int j = 0; seg.first_position == 0 && j < taps - 1; ++j)
    std::fill(state + j * columns + first, state + j * columns + last, 0.0f);
  // Input `t` of the sequence's rows; before the first they are in the state.
  const auto input = [&](int t) {
    return t < 0 ? state + (taps - 1 + t) * columns : row_pointer(op.x, seg.first_row + t);
  };
  for (int t = 0; t < seg.rows; ++t) {
    float* out = row_pointer(op.out, seg.first_row + t);
    for (int c = first; c < last; ++c) out[c] = 0;
    for (int j = 0; j < taps; ++j) {
      const float* x = input(t - taps + 1 + j);
      const float* weight = row_pointer(op.weight, 0) + j;
      for (int c = first; c < last; ++c)
        out[c] += weight[static_cast<ptrdiff_t>(c) * op.weight.stride] * x[c];
    }
  }
  for (int j = 0; j < taps - 1; ++j) {
    const float* kept = input(seg.rows - taps + 1 + j);
    std::memmove(state + j * columns + first, kept + first,
                 static_cast<size_t>(last - first) * sizeof(float));
  }
}

float softplus(float x) {
  return x > 20.0f ? x : std::log1p(std::exp(x));
}

// What all value heads of a row read: queries and keys of unit length, decays and betas.
class UnitRows {
 public:
  UnitRows(const GatedDelta& op, std::byte* memory)
      : op_(op),
        unit_(static_cast<size_t>(2 * op.key_heads * op.key_size)),
        memory_(reinterpret_cast<float*>(memory)) {}
  static size_t bytes(const GatedDelta& op) {
    return static_cast<size_t>(op.x.rows) *
           static_cast<size_t>(2 * op.key_heads * op.key_size + 2 * op.value_heads) * sizeof(float);
  }
  float* queries(int row) const { return memory_ + static_cast<size_t>(row) * stride(); }
  float* keys(int row) const { return queries(row) + op_.key_heads * op_.key_size; }
  float* decays(int row) const { return queries(row) + unit_; }
  float* betas(int row) const { return decays(row) + op_.value_heads; }
  size_t stride() const { return unit_ + static_cast<size_t>(2 * op_.value_heads); }

  void make(int row) const {
    const float* x = row_pointer(op_.x, row);
    const float scale = 1.0f / std::sqrt(static_cast<float>(op_.key_size));
    for (int h = 0; h < 2 * op_.key_heads; ++h) {
      const float* part = x + h * op_.key_size;
      float squares = 0;
      for (int i = 0; i < op_.key_size; ++i) squares = squares + part[i] * part[i];
      const float factor = (h < op_.key_heads ? scale : 1.0f) / std::sqrt(squares + op_.epsilon);
      for (int i = 0; i < op_.key_size; ++i) queries(row)[h * op_.key_size + i] = part[i] * factor;
    }
    for (int h = 0; h < op_.value_heads; ++h) {
      decays(row)[h] = std::exp(row_pointer(op_.a, 0)[h] *
                                softplus(row_pointer(op_.alpha, row)[h] + row_pointer(op_.dt, 0)[h]));
      betas(row)[h] = 1.0f / (1.0f + std::exp(-row_pointer(op_.beta, row)[h]));
    }
  }

 private:
  const GatedDelta& op_;
  size_t unit_;
  float* memory_;
};

DeltaTask make_task(const GatedDelta& op, const UnitRows& units, const SegmentRow& seg, int head,
                    float* state) {
  const int row = seg.first_row, key_head = head % op.key_heads;
  DeltaTask task;
  task.queries = units.queries(row) + key_head * op.key_size;
  task.keys = units.keys(row) + key_head * op.key_size;
  task.values = row_pointer(op.x, row) + 2 * op.key_heads * op.key_size + head * op.value_size;
  task.decays = units.decays(row) + head;
  task.betas = units.betas(row) + head;
  task.out = row_pointer(op.out, row) + head * op.value_size;
  task.state = state + static_cast<size_t>(head) * static_cast<size_t>(op.key_size) *
                           static_cast<size_t>(op.value_size);
  task.unit_stride = task.gate_stride = units.stride();
  task.value_stride = static_cast<size_t>(op.x.stride);
  task.out_stride = static_cast<size_t>(op.out.stride);
  task.tokens = seg.rows;
  task.key_size = op.key_size;
  task.value_size = op.value_size;
  return task;
}

}  // namespace

void run(const CausalConv& op, Context& context) {
  const int columns = op.x.columns, blocks = (columns + kChannelsPerItem - 1) / kChannelsPerItem;
  context.pool.for_each(blocks * op.segments.count, [&](int item, int) {
    const int first = item % blocks * kChannelsPerItem, last = std::min(columns, first + kChannelsPerItem);
    const SegmentRow& seg = segment(op.segments, item / blocks);
    float* state = slot_pointer(op.state, *row_pointer<int32_t>(op.slots, item / blocks));
    for_each_saved_part(
        seg, op.saves, [&](const SegmentRow& part) { convolve(op, part, state, first, last); },
        [&](int slot) {
          for (int j = 0; j < op.weight.columns - 1; ++j)
            std::copy(state + j * columns + first, state + j * columns + last,
                      slot_pointer(op.state, slot) + j * columns + first);
        });
    for (int r = 0; op.activation != Activation::kNone && r < seg.rows; ++r)
      context.kernels.activate_row(op.activation, row_pointer(op.out, seg.first_row + r) + first,
                                   last - first);
  });
}

void run(const GatedDelta& op, Context& context) {
  const UnitRows units(op, context.scratch.reserve(UnitRows::bytes(op)));
  for_row_ranges(context.pool, op.x.rows, op.x.columns, [&](int first, int last) {
    for (int r = first; r < last; ++r) units.make(r);
  });
  const int blocks = op.value_size / kColumnsPerItem, per_sequence = op.value_heads * blocks;
  context.pool.for_each(per_sequence * op.segments.count, [&](int item, int) {
    const SegmentRow& seg = segment(op.segments, item / per_sequence);
    const int head = item % per_sequence / blocks, column = item % blocks * kColumnsPerItem;
    float* state = slot_pointer(op.state, *row_pointer<int32_t>(op.slots, item / per_sequence));
    for_each_saved_part(
        seg, op.saves,
        [&](const SegmentRow& part) {
          const DeltaTask task = make_task(op, units, part, head, state);
          for (int i = 0; part.first_position == 0 && i < op.key_size; ++i)
            std::fill_n(task.state + i * op.value_size + column, kColumnsPerItem, 0.0f);
          context.kernels.delta_columns(task, column);
        },
        [&](int slot) {
          const ptrdiff_t first = head * op.key_size * op.value_size + column;
          float* saved = slot_pointer(op.state, slot) + first;
          for (int i = 0; i < op.key_size; ++i)
            std::copy_n(state + first + i * op.value_size, kColumnsPerItem, saved + i * op.value_size);
        });
  });
}

}  // namespace tempo9::backend::cpu
