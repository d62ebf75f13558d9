// Layers with a state, in token order.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/host/host_state.h"
#include "backend/reference/reference_kernels.h"

namespace tempo9::backend::reference {
namespace {

float softplus(float x) {
  return x > 20.0f ? x : std::log1p(std::exp(x));
}

// x / sqrt(sum x^2 + epsilon) * scale
std::vector<float> unit(const float* x, int n, float epsilon, float scale) {
  const float factor = scale / std::sqrt(dot(x, x, n) + epsilon);
  std::vector<float> out(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) out[static_cast<size_t>(i)] = x[i] * factor;
  return out;
}

// One token of one value head.
void delta_step(const GatedDelta& op, int row, int head, float* state) {
  const int K = op.key_size, V = op.value_size, key_head = head % op.key_heads;
  const float* x = row_pointer(op.x, row);
  const auto q = unit(x + key_head * K, K, op.epsilon, 1.0f / std::sqrt(static_cast<float>(K)));
  const auto k = unit(x + (op.key_heads + key_head) * K, K, op.epsilon, 1.0f);
  const float* v = x + 2 * op.key_heads * K + head * V;
  const float decay = std::exp(row_pointer(op.a, 0)[head] *
                               softplus(row_pointer(op.alpha, row)[head] + row_pointer(op.dt, 0)[head]));
  const float beta = activate(Activation::kSigmoid, row_pointer(op.beta, row)[head]);
  float* out = row_pointer(op.out, row) + head * V;
  for (int c = 0; c < V; ++c) {
    float seen = 0;
    for (int i = 0; i < K; ++i) seen += (state[i * V + c] *= decay) * k[static_cast<size_t>(i)];
    const float change = beta * (v[c] - seen);
    out[c] = 0;
    for (int i = 0; i < K; ++i)
      out[c] += (state[i * V + c] += k[static_cast<size_t>(i)] * change) * q[static_cast<size_t>(i)];
  }
}

void convolve(const CausalConv& op, const SegmentRow& seg, float* state) {
  const int columns = op.x.columns, taps = op.weight.columns;
  const size_t kept = static_cast<size_t>(taps - 1) * static_cast<size_t>(columns);
  std::vector<float> window(static_cast<size_t>(taps) *
                            static_cast<size_t>(columns));  // oldest first, the current token last
  if (seg.first_position == 0) std::fill_n(state, kept, 0.0f);
  for (int r = seg.first_row; r < seg.first_row + seg.rows; ++r) {
    std::copy_n(state, kept, window.begin());
    std::copy_n(row_pointer(op.x, r), columns, window.begin() + static_cast<ptrdiff_t>(kept));
    for (int c = 0; c < columns; ++c) {
      float sum = 0;
      for (int j = 0; j < taps; ++j)
        sum += row_pointer(op.weight, c)[j] * window[static_cast<size_t>(j * columns + c)];
      row_pointer(op.out, r)[c] = activate(op.activation, sum);
    }
    std::copy_n(window.begin() + columns, kept, state);
  }
}

void scan(const GatedDelta& op, const SegmentRow& seg, float* state) {
  const size_t head_state = static_cast<size_t>(op.key_size) * static_cast<size_t>(op.value_size);
  if (seg.first_position == 0) std::fill_n(state, head_state * static_cast<size_t>(op.value_heads), 0.0f);
  for (int r = seg.first_row; r < seg.first_row + seg.rows; ++r)
    for (int h = 0; h < op.value_heads; ++h)
      delta_step(op, r, h, state + static_cast<size_t>(h) * head_state);
}

// Calls step(op, rows, state) for each sequence, with its state of `size` values saved where that is asked.
template <class Operation, class Step>
void for_each_sequence(const Operation& op, size_t size, Step step) {
  for (int s = 0; s < op.segments.count; ++s) {
    float* state = slot_pointer(op.state, *row_pointer<int32_t>(op.slots, s));
    for_each_saved_part(
        segment(op.segments, s), op.saves, [&](const SegmentRow& part) { step(op, part, state); },
        [&](int slot) { std::copy_n(state, size, slot_pointer(op.state, slot)); });
  }
}

}  // namespace

void run(const CausalConv& op) {
  for_each_sequence(op, static_cast<size_t>(op.weight.columns - 1) * static_cast<size_t>(op.x.columns),
                    convolve);
}

void run(const GatedDelta& op) {
  for_each_sequence(op,
                    static_cast<size_t>(op.value_heads) * static_cast<size_t>(op.key_size) *
                        static_cast<size_t>(op.value_size),
                    scan);
}

}  // namespace tempo9::backend::reference
