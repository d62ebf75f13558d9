// Routing, matrices chosen per row, and their weighted sum.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "backend/reference/reference_kernels.h"

namespace tempo9::backend::reference {

void run(const RouteTopK& op) {
  const int experts = op.logits.columns, k = op.indices.columns;
  std::vector<int> order(static_cast<size_t>(experts));
  for (int r = 0; r < op.logits.rows; ++r) {
    const float* logits = row_pointer(op.logits, r);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return logits[a] > logits[b]; });
    int32_t* indices = row_pointer<int32_t>(op.indices, r);
    float* weights = row_pointer(op.weights, r);
    float total = 0;
    for (int j = 0; j < k; ++j) {
      indices[j] = order[static_cast<size_t>(j)];
      total += weights[j] = std::exp(logits[indices[j]] - logits[indices[0]]);
    }
    for (int j = 0; j < k; ++j) weights[j] /= total;
  }
}

void run(const ExpertLinear& op) {
  const int rows = op.indices.rows, k = op.indices.columns, columns = op.input.x.columns;
  std::vector<float> input(static_cast<size_t>(columns)), decoded(static_cast<size_t>(columns));
  for (int o = 0; o < op.count; ++o) {
    const LinearOutput& output = op.outputs[static_cast<size_t>(o)];
    const auto& weight = static_cast<const ReferenceWeight&>(*output.weight);
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < k; ++j) {
        const int expert = row_pointer<int32_t>(op.indices, r)[j];
        prepare_row(op.input, op.input_per_slot ? r * k + j : r, input.data());
        float* out = row_pointer(output.out, r * k + j);
        for (int n = 0; n < weight.rows(); ++n) {
          weight.decode_row(expert * weight.rows() + n, decoded.data());
          out[n] = dot(decoded.data(), input.data(), columns) +
                   (output.bias ? row_pointer(output.bias, expert)[n] : 0.0f);
        }
      }
  }
}

void run(const CombineExperts& op) {
  const int k = op.weights.columns;
  for (int r = 0; r < op.out.rows; ++r) {
    float* out = row_pointer(op.out, r);
    for (int n = 0; n < op.out.columns; ++n) {
      float sum = 0;
      for (int j = 0; j < k; ++j)
        sum += activate(op.activation, row_pointer(op.weights, r)[j]) * row_pointer(op.x, r * k + j)[n];
      out[n] += sum;
    }
  }
}

}  // namespace tempo9::backend::reference
