// Functions with the same bits on every device: sums and products in a fixed order, fused where it says so.
#pragma once

BEGIN_KERNELS

// e^x; 0 below e^-86. Range reduction and polynomial of Cephes' expf (S. Moshier).
INLINE float exponential(float x) {
  if (!(x > -86.0f)) return x < 0.0f ? 0.0f : x;  // NaN stays
  if (x > 88.7f) return as_float(0x7f800000u);
  const float n = nearest(x * 1.44269504f);
  const float r = fused(n, 2.12194440e-4f, fused(n, -0.693359375f, x));
  float p = fused(1.9875691500e-4f, r, 1.3981999507e-3f);
  p = fused(p, r, 8.3334519073e-3f);
  p = fused(p, r, 4.1665795894e-2f);
  p = fused(p, r, 1.6666665459e-1f);
  p = fused(p, r, 5.0000001201e-1f);
  p = fused(p, r * r, r) + 1.0f;
  return p * as_float(uint(int(n) + 126) << 23) * 2.0f;  // n may be 128
}

// ln x for a normal x > 0: the exponent, and 2 artanh((m - 1) / (m + 1)) of the mantissa m in [sqrt 1/2, sqrt
// 2).
INLINE float logarithm(float x) {
  const uint bits = as_uint(x);
  const int exponent = int((bits + 0x004afb0du) >> 23) - 127;
  const float f = as_float(bits - (uint(exponent) << 23)) - 1.0f;
  const float s = f / (2.0f + f), z = s * s;
  float p = fused(2.0f / 9.0f, z, 2.0f / 7.0f);
  p = fused(p, z, 2.0f / 5.0f);
  p = fused(p, z, 2.0f / 3.0f);
  return fused(float(exponent), 0.693147181f, fused(p * z, s, 2.0f * s));
}

// ln(1 + x) for x >= 0. What 1 + x loses is made good by the quotient (W. Kahan).
INLINE float logarithm_of_1_plus(float x) {
  const float y = 1.0f + x;
  return y == 1.0f ? x : logarithm(y) * (x / (y - 1.0f));
}

INLINE float softplus(float x) {
  return x > 20.0f ? x : logarithm_of_1_plus(exponential(x));
}

INLINE float sigmoid(float x) {
  return 1.0f / (1.0f + exponential(-x));
}

INLINE float hyperbolic_tangent(float x) {
  const float a = x < 0.0f ? -x : x;
  if (a < 0.2f) {  // Taylor: where 1 - 2 / (e^2a + 1) would lose what is small
    const float z = x * x;
    const float p = fused(fused(-17.0f / 315.0f, z, 2.0f / 15.0f), z, -1.0f / 3.0f);
    return fused(p * z, x, x);
  }
  const float t = 1.0f - 2.0f / (exponential(2.0f * a) + 1.0f);
  return x < 0.0f ? -t : t;
}

INLINE float activate(uint activation, float x) {
  if (activation == ACTIVATION_SILU) return x / (1.0f + exponential(-x));
  if (activation == ACTIVATION_SIGMOID) return sigmoid(x);
  if (activation == ACTIVATION_GELU_TANH)
    return 0.5f * x * (1.0f + hyperbolic_tangent(0.797884561f * fused(0.044715f * x * x, x, x)));
  return x;
}

INLINE float activate_gated(uint activation, float gate, float x) {
  if (activation != ACTIVATION_CLAMPED_SWIGLU) return activate(activation, gate) * x;
  const float g = smaller(gate, 7.0f), u = larger(smaller(x, 7.0f), -7.0f);
  return g / (1.0f + exponential(-1.702f * g)) * (u + 1.0f);
}

struct Angle {
  float cosine, sine;
};

// Of |x| < 2^20: quarter turns are taken off in three parts of pi / 2 (Cody and Waite), the first product
// being exact; Taylor polynomials do the rest. What no rotary angle reaches counts as 0.
INLINE Angle cosine_and_sine(float x) {
  if (!(x < 1048576.0f && x > -1048576.0f)) x = 0.0f;
  const float n = nearest(x * 0.636619772f);
  float r = fused(n, -1.57079637f, x);
  r = fused(n, 4.37113883e-8f, r);
  r = fused(n, 1.71512451e-15f, r);
  const float z = r * r;
  float p = fused(2.75573192e-6f, z, -1.98412698e-4f);
  p = fused(p, z, 8.33333333e-3f);
  p = fused(p, z, -1.66666667e-1f);
  const float sine = fused(p * z, r, r);
  float q = fused(-2.75573192e-7f, z, 2.48015873e-5f);
  q = fused(q, z, -1.38888889e-3f);
  q = fused(q, z, 4.16666667e-2f);
  q = fused(q, z, -0.5f);
  const float cosine = fused(q, z, 1.0f);
  const uint quarter = uint(int(n)) & 3u;
  const float c = (quarter & 1u) != 0 ? sine : cosine, s = (quarter & 1u) != 0 ? cosine : sine;
  const Angle turned = {quarter == 1u || quarter == 2u ? -c : c, quarter >= 2u ? -s : s};
  return turned;
}

// The sum over a group of what each of its threads has; `parts` are GROUP_SIMDS floats of scratch.
INLINE float group_total(const Ctx c, SHARED float* parts, float v) {
  v = simd_total(v);
  if (c.lane == 0) parts[c.simd] = v;
  group_barrier();
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

// 1 / sqrt(mean(x^2) + epsilon). A thread sums every GROUP_THREADS-th element, ascending.
INLINE float norm_factor(const Ctx c, SHARED float* parts, DEVICE const float* x, uint size, float epsilon) {
  float squares = 0.0f;
  for (uint i = c.tid; i < size; i += GROUP_THREADS) squares = fused(x[i], x[i], squares);
  return 1.0f / root(group_total(c, parts, squares) / float(size) + epsilon);
}

END_KERNELS
