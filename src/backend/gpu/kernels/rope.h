// Rotary positions.
#pragma once

BEGIN_KERNELS

// grid: x = block of (row, pair)
KERNEL(rope_angles, RopeAnglesArgs, NoScratch) {
  const uint i = c.group * GROUP_THREADS + c.tid;
  if (i >= a.rows * a.pairs) return;
  const uint row = i / a.pairs, pair = i % a.pairs;
  DEVICE const int* positions = a.positions + row * a.position_stride;
  const float lengths = float(positions[0] / a.temperature_length);
  const float magnitude = a.magnitude * (1.0f + a.temperature_scale * logarithm_of_1_plus(lengths));
  const int axis = a.axes != nullptr ? a.axes[pair] : 0;
  const Angle angle = cosine_and_sine(float(positions[axis]) * a.frequencies[pair]);
  DEVICE float* out = a.out + ulong(row) * a.out_stride + 2 * pair;
  out[0] = angle.cosine * magnitude;
  out[1] = angle.sine * magnitude;
}

// grid: x = block of (row, head, pair)
KERNEL(rope, RopeArgs, NoScratch) {
  const uint i = c.group * GROUP_THREADS + c.tid;
  if (i >= a.rows * a.heads * a.pairs) return;
  const uint pair = i % a.pairs, head = i / a.pairs % a.heads, row = i / a.pairs / a.heads;
  DEVICE const float* angle = a.angles + ulong(row) * a.angle_stride + 2 * pair;
  DEVICE float* x = a.x + ulong(row) * a.x_stride + head * a.head_size;
  DEVICE float* first = x + (a.adjacent != 0 ? 2 * pair : pair);
  DEVICE float* second = a.adjacent != 0 ? first + 1 : first + a.pairs;
  const float u = *first, v = *second, cosine = angle[0], sine = angle[1];
  *first = fused(u, cosine, -(v * sine));
  *second = fused(u, sine, v * cosine);
}

END_KERNELS
