#include <cmath>

#include "backend/reference/reference_kernels.h"

namespace tempo9::backend::reference {

void prepare_row(const LinearInput& input, int row, float* out) {
  const float* x = row_pointer(input.x, row);
  const int columns = input.x.columns;
  switch (input.prepare) {
    case LinearInput::Prepare::kAsIs:
      for (int k = 0; k < columns; ++k) out[k] = x[k];
      break;
    case LinearInput::Prepare::kRmsNorm: {
      const float* weight = row_pointer(input.norm_weight, 0);
      const float scale = 1.0f / std::sqrt(dot(x, x, columns) / static_cast<float>(columns) + input.epsilon);
      for (int k = 0; k < columns; ++k) out[k] = x[k] * scale * weight[k];
      break;
    }
    case LinearInput::Prepare::kGated: {
      const float* gate = row_pointer(input.gate, row);
      for (int k = 0; k < columns; ++k) out[k] = activate_gated(input.activation, gate[k], x[k]);
      break;
    }
  }
}

void run(const Linear& op) {
  const int rows = op.input.x.rows, columns = op.input.x.columns;
  std::vector<float> inputs(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  for (int r = 0; r < rows; ++r)
    prepare_row(op.input, r, inputs.data() + static_cast<size_t>(r) * static_cast<size_t>(columns));
  std::vector<float> decoded(static_cast<size_t>(columns));
  for (int o = 0; o < op.count; ++o) {
    const LinearOutput& output = op.outputs[static_cast<size_t>(o)];
    const auto& weight = static_cast<const ReferenceWeight&>(*output.weight);
    for (int n = 0; n < weight.rows(); ++n) {
      weight.decode_row(n, decoded.data());
      const float bias = output.bias ? row_pointer(output.bias, 0)[n] : 0.0f;
      for (int r = 0; r < rows; ++r) {
        const float sum =
            dot(decoded.data(), inputs.data() + static_cast<size_t>(r) * static_cast<size_t>(columns),
                columns) +
            bias;
        float& out = row_pointer(output.out, r)[n];
        out = output.add ? out + sum : sum;
      }
    }
  }
}

}  // namespace tempo9::backend::reference
