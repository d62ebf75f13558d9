// Operations on single rows.
#pragma once

BEGIN_KERNELS

// grid: x = row * groups + part
KERNEL(rms_norm, RmsNormArgs, GroupSums) {
  const uint row = c.group / a.groups, part = c.group % a.groups;
  DEVICE const float* x = a.x + ulong(row) * a.x_stride + part * a.size;
  DEVICE float* out = a.out + ulong(row) * a.out_stride + part * a.size;
  const float factor = norm_factor(c, s.parts, x, a.size, a.epsilon);
  for (uint i = c.tid; i < a.size; i += GROUP_THREADS) {
    float y = x[i] * factor;
    if (a.weight != nullptr) y *= a.weight[i];
    out[i] = a.add != 0 ? (out[i] + y) * a.scale : y;
  }
}

// grid: x = row
KERNEL(prepare_rows, PrepareRowsArgs, GroupSums) {
  DEVICE const float* x = a.x + ulong(c.group) * a.x_stride;
  DEVICE float* out = a.out + ulong(c.group) * a.out_stride;
  float factor = 1.0f;
  if (a.prepare == PREPARE_RMS_NORM) factor = norm_factor(c, s.parts, x, a.columns, a.epsilon);
  for (uint i = c.tid; i < a.out_stride; i += GROUP_THREADS) {
    float y = 0.0f;
    if (i < a.columns) {
      y = x[i];
      if (a.prepare == PREPARE_RMS_NORM) y = y * factor * a.norm_weight[i];
      if (a.prepare == PREPARE_GATED)
        y = activate_gated(a.activation, a.gate[ulong(c.group) * a.gate_stride + i], y);
    }
    out[i] = y;
  }
}

// grid: x = row, y = block of columns
KERNEL(gather_rows, GatherRowsArgs, NoScratch) {
  const uint i = c.group_y * GROUP_THREADS + c.tid;
  if (i >= a.columns) return;
  const uint from = uint(a.indices[c.group * a.index_stride]);
  a.out[ulong(c.group) * a.out_stride + i] = a.x[ulong(from) * a.x_stride + i];
}

// grid: x = row, y = block of columns
KERNEL(softcap, SoftcapArgs, NoScratch) {
  const uint i = c.group_y * GROUP_THREADS + c.tid;
  if (i >= a.columns) return;
  DEVICE float* x = a.x + ulong(c.group) * a.stride + i;
  *x = a.cap * hyperbolic_tangent(*x / a.cap);
}

// grid: x = pair, y = piece of COPY_BYTES
KERNEL(copy_pages, CopyPagesArgs, NoScratch) {
  DEVICE const int* pair = a.pairs + c.group * a.pair_stride;
  DEVICE const uint4* from =
      (DEVICE const uint4*)page_place(a.slabs, a.pages_per_slab, a.page_bytes, pair[0]);
  DEVICE uint4* to = (DEVICE uint4*)page_place(a.slabs, a.pages_per_slab, a.page_bytes, pair[1]);
  const ulong vectors = a.page_bytes / 16, first = ulong(c.group_y) * (COPY_BYTES / 16);
  for (uint i = c.tid; i < COPY_BYTES / 16; i += GROUP_THREADS) {
    if (first + i >= vectors) return;
    const uint4 v = from[first + i];
    to[first + i] = v;
  }
}

END_KERNELS
