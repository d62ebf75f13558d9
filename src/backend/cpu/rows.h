// Work on single rows: norms, gates, rotations.
#pragma once
#include "backend/cpu/kernels.h"
#include "backend/cpu/math.h"

namespace tempo9::backend::cpu {

// out[i] = body(a[i], b[i]), vector by vector; the rest of a row that is no multiple of the lanes by way of a
// padded copy. out may be a or b.
template <class L, class Body>
void for_each_vector(int n, const float* a, const float* b, float* out, Body body) {
  int i = 0;
  for (; i + L::kLanes <= n; i += L::kLanes) L::store(out + i, body(L::load(a + i), L::load(b + i)));
  if (i >= n) return;
  float rest_a[L::kLanes] = {}, rest_b[L::kLanes] = {}, rest_out[L::kLanes];
  const size_t bytes = sizeof(float) * static_cast<size_t>(n - i);
  std::memcpy(rest_a, a + i, bytes);
  std::memcpy(rest_b, b + i, bytes);
  L::store(rest_out, body(L::load(rest_a), L::load(rest_b)));
  std::memcpy(out + i, rest_out, bytes);
}

// In 16 chains, element i in chain i % 16, which are then folded by halves.
template <class L>
float sum_of_squares(const float* x, int n) {
  constexpr int kVectors = 16 / L::kLanes;
  typename L::Floats sum[kVectors];
  for (auto& s : sum) s = L::zero();
  const auto add = [&](const float* p) {
    for (int v = 0; v < kVectors; ++v) {
      const auto value = L::load(p + v * L::kLanes);
      sum[v] = L::fma(value, value, sum[v]);
    }
  };
  int i = 0;
  for (; i + 16 <= n; i += 16) add(x + i);
  float lanes[16] = {};
  if (i < n) {
    std::memcpy(lanes, x + i, sizeof(float) * static_cast<size_t>(n - i));
    add(lanes);
  }
  for (int v = 0; v < kVectors; ++v) L::store(lanes + v * L::kLanes, sum[v]);
  return fold16<L>(lanes);
}

template <class L>
void rms_norm_row(const float* x, const float* weight, int columns, float epsilon, float* out) {
  const float mean = sum_of_squares<L>(x, columns) / static_cast<float>(columns);
  const auto scale = L::set(1.0f / __builtin_sqrtf(mean + epsilon));
  if (weight == nullptr) {
    for_each_vector<L>(columns, x, x, out, [&](auto value, auto) { return L::mul(value, scale); });
    return;
  }
  for_each_vector<L>(columns, x, weight, out,
                     [&](auto value, auto w) { return L::mul(L::mul(value, scale), w); });
}

template <class L>
void gate_row(const float* x, const float* gate, int columns, Activation activation, float* out) {
  switch (activation) {
    case Activation::kNone:
      for_each_vector<L>(columns, x, gate, out, [](auto value, auto g) { return L::mul(g, value); });
      break;
    case Activation::kSilu:
      for_each_vector<L>(columns, x, gate, out,
                         [](auto value, auto g) { return L::mul(times_sigmoid<L>(g, g), value); });
      break;
    case Activation::kSigmoid:
      for_each_vector<L>(columns, x, gate, out,
                         [](auto value, auto g) { return L::mul(value, sigmoid<L>(g)); });
      break;
    case Activation::kClampedSwiglu:
      for_each_vector<L>(columns, x, gate, out,
                         [](auto value, auto g) { return clamped_swiglu<L>(value, g); });
      break;
    case Activation::kGeluTanh:
      for_each_vector<L>(columns, x, gate, out,
                         [](auto value, auto g) { return L::mul(gelu_tanh<L>(g), value); });
      break;
  }
}

template <class L>
void activate_row(Activation activation, float* x, int columns) {
  for_each_vector<L>(columns, x, x, x, [activation](auto value, auto) {
    if (activation == Activation::kSilu) return times_sigmoid<L>(value, value);
    if (activation == Activation::kSigmoid) return sigmoid<L>(value);
    if (activation == Activation::kGeluTanh) return gelu_tanh<L>(value);
    return value;
  });
}

// tanh(y) = 2 / (1 + e^-2y) - 1
template <class L>
void softcap_row(float cap, float* x, int columns) {
  const auto inverse = L::set(2.0f / cap), twice = L::set(2.0f * cap), once = L::set(-cap);
  for_each_vector<L>(columns, x, x, x, [&](auto value, auto) {
    return L::fma(twice, sigmoid<L>(L::mul(value, inverse)), once);
  });
}

template <class L>
void prepare_row(const RowRecipe& recipe, const float* x, const float* gate, float* out) {
  if (recipe.prepare == LinearInput::Prepare::kGated)
    gate_row<L>(x, gate, recipe.columns, recipe.activation, out);
  else
    rms_norm_row<L>(x, recipe.norm_weight, recipe.columns, recipe.epsilon, out);
}

// Plain loops: the compiler's vectors give the same bits, as nothing is summed.
template <class L>
void rotate_split(float* __restrict x, const float* __restrict cosine, const float* __restrict sine,
                  int pairs) {
  for (int i = 0; i < pairs; ++i) {
    const float u = x[i], v = x[i + pairs];
    x[i] = u * cosine[i] - v * sine[i];
    x[i + pairs] = u * sine[i] + v * cosine[i];
  }
}

template <class L>
void rotate_adjacent(float* __restrict x, const float* __restrict cosine, const float* __restrict sine,
                     int pairs) {
  for (int i = 0; i < pairs; ++i) {
    const float u = x[2 * i], v = x[2 * i + 1];
    x[2 * i] = u * cosine[i] - v * sine[i];
    x[2 * i + 1] = u * sine[i] + v * cosine[i];
  }
}

template <class L>
void rotate_row(const RotateTask& task, float* x, float* scratch) {
  float *cosine = scratch, *sine = scratch + task.pairs;
  for (int i = 0; i < task.pairs; ++i) {
    cosine[i] = task.angles[2 * i];
    sine[i] = task.angles[2 * i + 1];
  }
  for (int h = 0; h < task.heads; ++h, x += task.head_size) {
    if (task.split)
      rotate_split<L>(x, cosine, sine, task.pairs);
    else
      rotate_adjacent<L>(x, cosine, sine, task.pairs);
  }
}

}  // namespace tempo9::backend::cpu
