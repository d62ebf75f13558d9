// Routing, and which rows ask for which matrix.
#pragma once

BEGIN_KERNELS

struct ListScratch {
  uint before[GROUP_THREADS], mine[GROUP_THREADS];
  uint used[MOST_LISTED];
  float parts[GROUP_SIMDS];
};

INLINE uint index_of_slot(CONSTANT const ExpertListsArgs& a, uint slot) {
  return uint(a.indices[slot / a.chosen * a.index_stride + slot % a.chosen]);
}

// How many matrices are asked for.
INLINE void count_used(const Ctx c, CONSTANT const ExpertListsArgs& a, SHARED ListScratch& s) {
  const uint slots = a.rows * a.chosen;
  uint used = 0;
  for (uint from = 0; from < a.matrices; from += MOST_LISTED) {
    for (uint i = c.tid; i < MOST_LISTED; i += GROUP_THREADS) s.used[i] = 0;
    group_barrier();
    for (uint slot = c.tid; slot < slots; slot += GROUP_THREADS) {
      const uint index = index_of_slot(a, slot) - from;
      if (index < MOST_LISTED) s.used[index] = 1;
    }
    group_barrier();
    for (uint i = c.tid; i < MOST_LISTED; i += GROUP_THREADS) used += s.used[i];
    group_barrier();
  }
  const float total = group_total(c, s.parts, float(used));
  if (c.tid == 0) *a.matrices_read += ulong(total) * a.outputs;
}

// grid: x = matrix; the last group tells where all lists end
KERNEL(expert_lists, ExpertListsArgs, ListScratch) {
  const uint slots = a.rows * a.chosen, each = (slots + GROUP_THREADS - 1) / GROUP_THREADS;
  if (c.group == a.matrices) {
    if (c.tid == 0) a.lists[a.matrices] = int(slots);
    count_used(c, a, s);
    return;
  }
  const uint first = c.tid * each < slots ? c.tid * each : slots;
  const uint last = first + each < slots ? first + each : slots;
  uint before = 0, mine = 0;
  for (uint slot = first; slot < last; ++slot) {
    const uint index = index_of_slot(a, slot);
    before += index < c.group ? 1u : 0u;
    mine += index == c.group ? 1u : 0u;
  }
  s.before[c.tid] = before;
  s.mine[c.tid] = mine;
  group_barrier();
  uint place = 0;
  for (uint i = 0; i < GROUP_THREADS; ++i) place += s.before[i];
  if (c.tid == 0) a.lists[c.group] = int(place);
  for (uint i = 0; i < c.tid; ++i) place += s.mine[i];
  if (mine == 0) return;
  DEVICE int* list = a.lists + a.matrices + 1 + place;
  for (uint slot = first; slot < last; ++slot)
    if (index_of_slot(a, slot) == c.group) *list++ = int(slot);
}

struct Ranked {
  float value;
  uint index;
};

// Larger values first, of equal ones the lower index.
INLINE bool ranks_before(Ranked a, Ranked b) {
  return a.value > b.value || (a.value == b.value && a.index < b.index);
}

// A NaN ranks with -infinity.
INLINE float ranked_value(float v) {
  return v == v ? v : as_float(0xff800000u);
}

enum : uint { KEPT_LOGITS = 8 };  // that a lane reads once
struct LaneLogits {
  float v[KEPT_LOGITS];
};

// The first of those that come after `last`, of all lanes. Lane l has every 32nd from l on, the first in
// `kept`.
INLINE Ranked next_ranked(const Ctx c, DEVICE const float* logits, THREAD const LaneLogits& kept,
                          uint experts, Ranked last, bool any_before) {
  Ranked best = {as_float(0xff800000u), experts};
  UNROLL for (uint j = 0; j < KEPT_LOGITS; ++j) {
    const Ranked candidate = {kept.v[j], 32 * j + c.lane};
    if (candidate.index >= experts) continue;
    if ((!any_before || ranks_before(last, candidate)) && ranks_before(candidate, best)) best = candidate;
  }
  for (uint i = 32 * KEPT_LOGITS + c.lane; i < experts; i += 32) {
    const Ranked candidate = {ranked_value(logits[i]), i};
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
  LaneLogits kept;
  UNROLL for (uint j = 0; j < KEPT_LOGITS; ++j) {
    const uint i = 32 * j + c.lane;
    kept.v[j] = i < a.experts ? ranked_value(logits[i]) : 0.0f;
  }
  Ranked best = {0.0f, 0};
  float largest = 0.0f, total = 0.0f;
  for (uint j = 0; j < a.chosen; ++j) {
    best = next_ranked(c, logits, kept, a.experts, best, j > 0);
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
