// Operations on single rows.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "backend/reference/reference_kernels.h"
#include "base/check.h"

namespace tempo9::backend::reference {

void ReferenceWeight::decode_row(int row, float* out) const {
  const size_t row_bytes = quant::format_info(format()).row_bytes(static_cast<size_t>(columns()));
  quant::decode_row(format(), bytes_.data() + static_cast<size_t>(row) * row_bytes,
                    static_cast<size_t>(columns()), out);
}

float dot(const float* a, const float* b, int n) {
  constexpr int kLanes = 16;
  float sums[kLanes] = {};
  int k = 0;
  for (; k + kLanes <= n; k += kLanes)
    for (int i = 0; i < kLanes; ++i) sums[i] += a[k + i] * b[k + i];
  for (int i = 0; k < n; ++k, ++i) sums[i] += a[k] * b[k];
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kSilu:
      return x / (1.0f + std::exp(-x));
    case Activation::kSigmoid:
      return 1.0f / (1.0f + std::exp(-x));
    case Activation::kClampedSwiglu:  // gated inputs only
      CHECK(false);
    case Activation::kGeluTanh:
      return 0.5f * x *
             (1.0f + std::tanh(std::sqrt(2.0f / std::numbers::pi_v<float>) * (x + 0.044715f * x * x * x)));
  }
  return x;
}

void run(const EmbedRows& op) {
  const auto& weight = static_cast<const ReferenceWeight&>(*op.weight);
  for (int r = 0; r < op.out.rows; ++r) {
    float* out = row_pointer(op.out, r);
    weight.decode_row(*row_pointer<int32_t>(op.ids, r), out);
    for (int k = 0; k < op.out.columns; ++k) out[k] *= op.scale;
  }
}

float activate_gated(Activation activation, float gate, float x) {
  if (activation != Activation::kClampedSwiglu) return activate(activation, gate) * x;
  const float g = std::min(gate, 7.0f), u = std::clamp(x, -7.0f, 7.0f);
  return g / (1.0f + std::exp(-1.702f * g)) * (u + 1.0f);
}

void run(const RmsNorm& op) {
  const int n = op.x.columns / op.groups;
  for (int r = 0; r < op.x.rows; ++r)
    for (int g = 0; g < op.groups; ++g) {
      const float* x = row_pointer(op.x, r) + g * n;
      float* out = row_pointer(op.out, r) + g * n;
      const float scale = 1.0f / std::sqrt(dot(x, x, n) / static_cast<float>(n) + op.epsilon);
      for (int k = 0; k < n; ++k) {
        const float normed = x[k] * scale * (op.weight ? row_pointer(op.weight, 0)[k] : 1.0f);
        out[k] = op.add ? (out[k] + normed) * op.scale : normed;
      }
    }
}

void run(const RopeAngles& op) {
  const float* frequencies = row_pointer(op.frequencies, 0);
  for (int r = 0; r < op.out.rows; ++r) {
    const int32_t* positions = row_pointer<int32_t>(op.positions, r);
    const auto lengths = static_cast<float>(positions[0] / op.temperature_length);
    const float magnitude = op.magnitude * (1.0f + op.temperature_scale * std::log1p(lengths));
    float* out = row_pointer(op.out, r);
    for (int i = 0; i < op.frequencies.columns; ++i) {
      const int axis = op.axes ? row_pointer<int32_t>(op.axes, 0)[i] : 0;
      const float angle = static_cast<float>(positions[axis]) * frequencies[i];
      out[2 * i] = std::cos(angle) * magnitude;
      out[2 * i + 1] = std::sin(angle) * magnitude;
    }
  }
}

void run(const Rope& op) {
  const int pairs = op.angles.columns / 2;
  const bool adjacent = op.pairs == RopePairs::kAdjacent;
  for (int r = 0; r < op.x.rows; ++r) {
    const float* angles = row_pointer(op.angles, r);
    for (int h = 0; h < op.heads; ++h) {
      float* head = row_pointer(op.x, r) + h * op.head_size;
      for (int i = 0; i < pairs; ++i) {
        float& u = head[adjacent ? 2 * i : i];
        float& v = head[adjacent ? 2 * i + 1 : i + pairs];
        const float cosine = angles[2 * i], sine = angles[2 * i + 1], old_u = u;
        u = old_u * cosine - v * sine;
        v = old_u * sine + v * cosine;
      }
    }
  }
}

void run(const Softcap& op) {
  for (int r = 0; r < op.x.rows; ++r) {
    float* x = row_pointer(op.x, r);
    for (int k = 0; k < op.x.columns; ++k) x[k] = op.cap * std::tanh(x[k] / op.cap);
  }
}

void run(const GatherRows& op) {
  for (int i = 0; i < op.out.rows; ++i)
    std::memcpy(row_pointer(op.out, i), row_pointer(op.x, *row_pointer<int32_t>(op.indices, i)),
                static_cast<size_t>(op.out.columns) * sizeof(float));
}

}  // namespace tempo9::backend::reference
