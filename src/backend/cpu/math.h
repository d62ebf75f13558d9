// Functions of one vector that must give the same bits on every leaf.
#pragma once
#include "backend/cpu/activation.h"

namespace tempo9::backend::cpu {

// 2^x for x <= 0, with a relative error below 1.5e-7 (and exactly 1 at 0); NaN stays NaN. Below -125 it stops
// falling, so no result is subnormal. The polynomial interpolates (2^f - 1) / f at the Chebyshev nodes of
// [-0.5, 0.5].
template <class L>
[[gnu::always_inline]] inline typename L::Floats exp2_of_negative(typename L::Floats x) {
  x = L::max(L::set(-125.0f), x);
  const auto whole = L::round(x);
  const auto f = L::sub(x, whole);
  auto p = L::set(1.54531629e-4f);
  p = L::fma(p, f, L::set(1.33908634e-3f));
  p = L::fma(p, f, L::set(9.61808256e-3f));
  p = L::fma(p, f, L::set(5.55035711e-2f));
  p = L::fma(p, f, L::set(2.40226508e-1f));
  p = L::fma(p, f, L::set(6.93147188e-1f));
  p = L::fma(p, f, L::set(1.0f));
  return L::mul(p, L::power_of_two(whole));
}

inline constexpr float kLog2E = 1.4426950408889634f;

// x / (1 + e^-y), where y has the sign of x: SiLU with y = x.
template <class L>
[[gnu::always_inline]] inline typename L::Floats times_sigmoid(typename L::Floats x, typename L::Floats y) {
  const auto magnitude = L::max(y, L::sub(L::zero(), y));
  const auto e = exp2_of_negative<L>(L::mul(magnitude, L::set(-kLog2E)));
  const auto positive = L::max(x, L::zero());
  const auto negative = L::sub(x, positive);
  return L::div(L::fma(negative, e, positive), L::add(L::set(1.0f), e));
}

// 1 / (1 + e^-x).
template <class L>
[[gnu::always_inline]] inline typename L::Floats sigmoid(typename L::Floats x) {
  const auto magnitude = L::max(x, L::sub(L::zero(), x));
  const auto e = exp2_of_negative<L>(L::mul(magnitude, L::set(-kLog2E)));
  return L::div(L::if_negative(x, e, L::set(1.0f)), L::add(L::set(1.0f), e));
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is x / (1 + e^-2z) with z the tanh's argument.
template <class L>
[[gnu::always_inline]] inline typename L::Floats gelu_tanh(typename L::Floats x) {
  constexpr float kTwoRootTwoOverPi = 1.5957691216057308f;
  const auto cubic = L::fma(L::mul(x, x), L::set(0.044715f), L::set(1.0f));
  return times_sigmoid<L>(x, L::mul(L::mul(x, L::set(kTwoRootTwoOverPi)), cubic));
}

// g = min(gate, 7), u = clamp(x, -7, 7): g * sigmoid(1.702 g) * (u + 1).
template <class L>
[[gnu::always_inline]] inline typename L::Floats clamped_swiglu(typename L::Floats x,
                                                                typename L::Floats gate) {
  const auto zero = L::zero(), limit = L::set(-7.0f);
  const auto at_most_7 = [&](auto v) { return L::sub(zero, L::max(L::sub(zero, v), limit)); };
  const auto g = at_most_7(gate), u = L::max(at_most_7(x), limit);
  return L::mul(times_sigmoid<L>(g, L::mul(g, L::set(1.702f))), L::add(u, L::set(1.0f)));
}

// Adds 16 sums by halves: the end of every sum over an array, whose element i went into sum i % 16.
template <class L>
float fold16(float* sums) {
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

}  // namespace tempo9::backend::cpu
