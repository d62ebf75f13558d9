// Layers with a state, in token order.
#pragma once

BEGIN_KERNELS

INLINE DEVICE float* state_place(DEVICE const Slab* slabs, uint slots_per_slab, ulong slot_bytes,
                                 ulong layer_offset, int slot) {
  return (DEVICE float*)(page_place(slabs, slots_per_slab, slot_bytes, slot) + layer_offset);
}

// The input `back` tokens before row `row` of a segment: from x, or from the state that the segment found.
INLINE float conv_input(CONSTANT const CausalConvArgs& a, DEVICE const float* state, Segment segment,
                        uint row, uint back, uint column) {
  const uint done = row - segment.first_row;
  if (back <= done) return a.x[ulong(row - back) * a.x_stride + column];
  if (segment.first_position == 0) return 0.0f;
  return state[ulong(a.taps - 1 + done - back) * a.columns + column];
}

// grid: x = row, y = block of columns
KERNEL(causal_conv, CausalConvArgs, NoScratch) {
  const uint column = c.group_y * GROUP_THREADS + c.tid;
  if (column >= a.columns) return;
  const uint index = segment_index_of_row(a.segments, a.segment_count, c.group);
  const Segment segment = segment_at(a.segments, index);
  DEVICE const float* state =
      state_place(a.slabs, a.slots_per_slab, a.slot_bytes, a.layer_offset, a.slots[index * a.slot_stride]);
  DEVICE const float* weight = a.weight + ulong(column) * a.weight_stride;
  float sum = 0.0f;
  for (uint j = 0; j < a.taps; ++j)
    sum = fused(weight[j], conv_input(a, state, segment, c.group, a.taps - 1 - j, column), sum);
  a.out[ulong(c.group) * a.out_stride + column] = activate(a.activation, sum);
}

// After causal_conv: the states that the segment's rows leave. A thread has a column of all of them, and
// writes the segment's own state last and from its oldest input on, so that nothing is lost before it is
// read. grid: x = segment, y = block of columns
KERNEL(causal_conv_states, CausalConvArgs, NoScratch) {
  const uint column = c.group_y * GROUP_THREADS + c.tid;
  if (column >= a.columns) return;
  const Segment segment = segment_at(a.segments, c.group);
  if (segment.rows == 0) return;
  DEVICE float* own =
      state_place(a.slabs, a.slots_per_slab, a.slot_bytes, a.layer_offset, a.slots[c.group * a.slot_stride]);
  for (uint i = 0; i <= a.save_count; ++i) {
    uint row = segment.first_row + segment.rows - 1;
    DEVICE float* target = own;
    if (i < a.save_count) {
      DEVICE const int* save = a.saves + i * a.save_stride;
      if (uint(save[0]) < segment.first_row || uint(save[0]) > row) continue;
      row = uint(save[0]);
      target = state_place(a.slabs, a.slots_per_slab, a.slot_bytes, a.layer_offset, save[1]);
    }
    for (uint j = 0; j + 1 < a.taps; ++j)
      target[ulong(j) * a.columns + column] = conv_input(a, own, segment, row, a.taps - 2 - j, column);
  }
}

enum : uint { DELTA_LANE_ROWS = MOST_DELTA_KEY / 32 };

// Four columns of a state: a lane has every 32nd of their elements.
struct DeltaColumns {
  float4 rows[DELTA_LANE_ROWS];
};

INLINE float4 scaled(float4 v, float by) {
  return make4(v.x * by, v.y * by, v.z * by, v.w * by);
}
INLINE float4 fused4(float a, float4 b, float4 sum) {
  return make4(fused(a, b.x, sum.x), fused(a, b.y, sum.y), fused(a, b.z, sum.z), fused(a, b.w, sum.w));
}

// 1 / sqrt(sum x^2 + epsilon)
INLINE float unit_factor(const Ctx c, DEVICE const float* x, uint size, float epsilon) {
  float squares = 0.0f;
  for (uint i = c.lane; i < size; i += 32) squares = fused(x[i], x[i], squares);
  return 1.0f / root(simd_total(squares) + epsilon);
}

// One token; the four values that it gives.
INLINE float4 delta_step(const Ctx c, CONSTANT const GatedDeltaArgs& a, uint row, uint head, uint column,
                         THREAD DeltaColumns& state) {
  DEVICE const float* x = a.x + ulong(row) * a.x_stride;
  DEVICE const float* query = x + head % a.key_heads * a.key_size;
  DEVICE const float* key = query + a.key_heads * a.key_size;
  DEVICE const float* value = x + 2 * a.key_heads * a.key_size + head * a.value_size + column;
  const float query_factor = unit_factor(c, query, a.key_size, a.epsilon) / root(float(a.key_size));
  const float key_factor = unit_factor(c, key, a.key_size, a.epsilon);
  const float decay =
      exponential(a.a[head] * softplus(a.alpha[ulong(row) * a.alpha_stride + head] + a.dt[head]));
  const float beta = sigmoid(a.beta[ulong(row) * a.beta_stride + head]);
  float4 seen = make4(0.0f, 0.0f, 0.0f, 0.0f), out = seen;
  UNROLL for (uint j = 0; j < DELTA_LANE_ROWS; ++j) {
    const uint i = 32 * j + c.lane;
    if (i >= a.key_size) continue;
    state.rows[j] = scaled(state.rows[j], decay);
    seen = fused4(key[i] * key_factor, state.rows[j], seen);
  }
  seen = simd_total(seen);
  const float4 change = make4(beta * (value[0] - seen.x), beta * (value[1] - seen.y),
                              beta * (value[2] - seen.z), beta * (value[3] - seen.w));
  UNROLL for (uint j = 0; j < DELTA_LANE_ROWS; ++j) {
    const uint i = 32 * j + c.lane;
    if (i >= a.key_size) continue;
    state.rows[j] = fused4(key[i] * key_factor, change, state.rows[j]);
    out = fused4(query[i] * query_factor, state.rows[j], out);
  }
  return simd_total(out);
}

INLINE void write_columns(const Ctx c, CONSTANT const GatedDeltaArgs& a, DEVICE float* place,
                          THREAD const DeltaColumns& state) {
  UNROLL for (uint j = 0; j < DELTA_LANE_ROWS; ++j) {
    const uint i = 32 * j + c.lane;
    if (i >= a.key_size) continue;
    *(DEVICE float4*)(place + ulong(i) * a.value_size) = state.rows[j];
  }
}

// A SIMD group has four columns. grid: x = (segment, value head), y = block of DELTA_COLUMNS columns
KERNEL(gated_delta, GatedDeltaArgs, NoScratch) {
  const uint index = c.group / a.value_heads, head = c.group % a.value_heads;
  const uint column = c.group_y * DELTA_COLUMNS + c.simd * 4;
  const Segment segment = segment_at(a.segments, index);
  const ulong offset = ulong(head) * a.key_size * a.value_size + column;
  DEVICE float* own = offset + state_place(a.slabs, a.slots_per_slab, a.slot_bytes, a.layer_offset,
                                           a.slots[index * a.slot_stride]);
  DeltaColumns state;
  UNROLL for (uint j = 0; j < DELTA_LANE_ROWS; ++j) {
    const uint i = 32 * j + c.lane;
    state.rows[j] = make4(0.0f, 0.0f, 0.0f, 0.0f);
    if (i >= a.key_size || segment.first_position == 0) continue;
    state.rows[j] = *(DEVICE const float4*)(own + ulong(i) * a.value_size);
  }
  uint save = 0;
  for (uint row = segment.first_row; row < segment.first_row + segment.rows; ++row) {
    const float4 y = delta_step(c, a, row, head, column, state);
    DEVICE float* out = a.out + ulong(row) * a.out_stride + head * a.value_size + column;
    if (c.lane == 0) {
      out[0] = y.x;
      out[1] = y.y;
      out[2] = y.z;
      out[3] = y.w;
    }
    while (save < a.save_count && uint(a.saves[save * a.save_stride]) < row) ++save;
    for (; save < a.save_count && uint(a.saves[save * a.save_stride]) == row; ++save)
      write_columns(c, a,
                    offset + state_place(a.slabs, a.slots_per_slab, a.slot_bytes, a.layer_offset,
                                         a.saves[save * a.save_stride + 1]),
                    state);
  }
  if (segment.rows > 0) write_columns(c, a, own, state);
}

END_KERNELS
