// The gated delta rule of one value head (ops.h, GatedDelta), token by token. Columns of the state are
// independent and go side by side in lanes, so a sum over keys is one chain per column and has the same bits
// on every leaf and for any number of tokens.
#pragma once
#include "backend/cpu/kernels.h"

namespace tempo9::backend::cpu {

// 16 columns from `column` on, through all tokens of the task.
template <class L>
void delta_columns(const DeltaTask& task, int column) {
  constexpr int kVectors = 16 / L::kLanes;
  using Floats = typename L::Floats;
  for (int t = 0; t < task.tokens; ++t) {
    const float* query = task.queries + static_cast<size_t>(t) * task.unit_stride;
    const float* key = task.keys + static_cast<size_t>(t) * task.unit_stride;
    const float* value = task.values + static_cast<size_t>(t) * task.value_stride + column;
    float* out = task.out + static_cast<size_t>(t) * task.out_stride + column;
    const Floats decay = L::set(task.decays[static_cast<size_t>(t) * task.gate_stride]);
    const Floats beta = L::set(task.betas[static_cast<size_t>(t) * task.gate_stride]);
    for (int v = 0; v < kVectors; ++v) {
      float* state = task.state + column + v * L::kLanes;
      Floats seen = L::zero(), result = L::zero();
      for (int i = 0; i < task.key_size; ++i) {
        const Floats s = L::mul(L::load(state + i * task.value_size), decay);
        L::store(state + i * task.value_size, s);
        seen = L::fma(s, L::set(key[i]), seen);
      }
      const Floats change = L::mul(beta, L::sub(L::load(value + v * L::kLanes), seen));
      for (int i = 0; i < task.key_size; ++i) {
        const Floats s = L::fma(change, L::set(key[i]), L::load(state + i * task.value_size));
        L::store(state + i * task.value_size, s);
        result = L::fma(s, L::set(query[i]), result);
      }
      L::store(out + v * L::kLanes, result);
    }
  }
}

}  // namespace tempo9::backend::cpu
