// Routing, and which rows ask for which matrix.
#pragma once

BEGIN_KERNELS

// grid: one group
KERNEL(expert_lists, ExpertListsArgs, GroupSums) {
  const uint slots = a.rows * a.chosen;
  uint used = 0;
  for (uint matrix = c.tid; matrix <= a.matrices; matrix += GROUP_THREADS) {
    uint before = 0, mine = 0;
    for (uint slot = 0; slot < slots; ++slot) {
      const uint index = uint(a.indices[slot / a.chosen * a.index_stride + slot % a.chosen]);
      before += index < matrix ? 1u : 0u;
      mine += index == matrix ? 1u : 0u;
    }
    a.lists[matrix] = int(before);
    if (mine == 0) continue;
    ++used;
    DEVICE int* list = a.lists + a.matrices + 1 + before;
    for (uint slot = 0; slot < slots; ++slot) {
      const uint index = uint(a.indices[slot / a.chosen * a.index_stride + slot % a.chosen]);
      if (index == matrix) *list++ = int(slot);
    }
  }
  const float total = group_total(c, s.parts, float(used));
  if (c.tid == 0) *a.matrices_read += ulong(total) * a.outputs;
}

struct Ranked {
  float value;
  uint index;
};

// Larger values first, of equal ones the lower index.
INLINE bool ranks_before(Ranked a, Ranked b) {
  return a.value > b.value || (a.value == b.value && a.index < b.index);
}

// The first of those that come after `last`, of all lanes. A NaN ranks with -infinity.
INLINE Ranked next_ranked(const Ctx c, DEVICE const float* logits, uint experts, Ranked last,
                          bool any_before) {
  const float lowest = as_float(0xff800000u);
  Ranked best = {lowest, experts};
  for (uint i = c.lane; i < experts; i += 32) {
    const float v = logits[i];
    const Ranked candidate = {v == v ? v : lowest, i};
    if ((!any_before || ranks_before(last, candidate)) && ranks_before(candidate, best)) best = candidate;
  }
  for (uint m = 16; m != 0; m >>= 1) {
    const Ranked other = {simd_shuffle_xor(best.value, m), simd_shuffle_xor(best.index, m)};
    if (ranks_before(other, best)) best = other;
  }
  return best;
}

// A SIMD group has a row. grid: x = block of GROUP_SIMDS rows
KERNEL(route_top_k, RouteTopKArgs, NoScratch) {
  const uint row = c.group * GROUP_SIMDS + c.simd;
  if (row >= a.rows) return;
  DEVICE const float* logits = a.logits + ulong(row) * a.logit_stride;
  DEVICE float* weights = a.weights + ulong(row) * a.weight_stride;
  Ranked best = {0.0f, 0};
  float largest = 0.0f, total = 0.0f;
  for (uint j = 0; j < a.chosen; ++j) {
    best = next_ranked(c, logits, a.experts, best, j > 0);
    if (j == 0) largest = best.value;
    const float weight = exponential(best.value - largest);
    total += weight;
    if (c.lane != 0) continue;
    a.indices[row * a.index_stride + j] = int(best.index);
    weights[j] = weight;
  }
  if (c.lane == 0)
    for (uint j = 0; j < a.chosen; ++j) weights[j] = weights[j] / total;
}

// grid: x = row, y = block of columns
KERNEL(combine_experts, CombineExpertsArgs, NoScratch) {
  const uint i = c.group_y * GROUP_THREADS + c.tid;
  if (i >= a.columns) return;
  DEVICE const float* x = a.x + ulong(c.group) * a.chosen * a.x_stride + i;
  DEVICE const float* weights = a.weights + ulong(c.group) * a.weight_stride;
  float sum = 0.0f;
  for (uint j = 0; j < a.chosen; ++j)
    sum = fused(activate(a.activation, weights[j]), x[ulong(j) * a.x_stride], sum);
  a.out[ulong(c.group) * a.out_stride + i] += sum;
}

END_KERNELS
