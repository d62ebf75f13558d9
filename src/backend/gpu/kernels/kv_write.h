// Keys and values into their pages.
#pragma once

BEGIN_KERNELS

// The scale of a q8_0 block, as ops.h defines it, as the bits of an f16.
INLINE uint kv_block_scale(DEVICE const float* x, uint n) {
  float largest = 0.0f;
  for (uint i = 0; i < n; ++i) {
    const float magnitude = x[i] < 0.0f ? -x[i] : x[i];
    if (!(magnitude <= 127.0f * 65504.0f)) return 0x7e00u;
    largest = larger(largest, magnitude);
  }
  const uint bits = to_half(largest * (1.0f / 127.0f));
  return from_half(bits) * 127.0f < largest ? bits + 1 : bits;
}

// Elements first .. first + 31 (or up to `size`) of a token's key or value; `place` is where the head's keys
// or values of the page begin.
INLINE void kv_store_block(uint type, DEVICE uchar* place, uint token, uint size, uint first,
                           DEVICE const float* x) {
  const uint n = size - first < 32 ? size - first : 32u, at = token * size + first;
  x += first;
  if (type == KV_Q8_0) {
    const uint bits = kv_block_scale(x, n);
    const float scale = from_half(bits);
    DEVICE ushort* scales = (DEVICE ushort*)(place + PAGE_TOKENS * size);
    scales[token * kv_blocks(size) + first / 32] = ushort(bits);
    for (uint i = 0; i < n; ++i) {
      const float level = scale > 0.0f ? nearest(x[i] * (1.0f / scale)) : 0.0f;
      place[at + i] = uchar(uint(int(level)) & 255u);
    }
  } else if (type == KV_F32) {
    DEVICE float* out = (DEVICE float*)place + at;
    for (uint i = 0; i < n; ++i) out[i] = x[i];
  } else {
    DEVICE ushort* out = (DEVICE ushort*)place + at;
    for (uint i = 0; i < n; ++i) {
      const uint bits = as_uint(x[i]);
      const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
      const uint brain = nan ? bits >> 16 | 64u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
      out[i] = ushort(type == KV_F16 ? to_half(x[i]) : brain);
    }
  }
}

// grid: x = block of (row, head, block of 32 elements, keys before values)
KERNEL(kv_write, KvWriteArgs, NoScratch) {
  const uint key_blocks = kv_blocks(a.key_size), blocks = key_blocks + kv_blocks(a.value_size);
  const uint i = c.group * GROUP_THREADS + c.tid;
  if (i >= a.rows * a.kv_heads * blocks) return;
  const uint block = i % blocks, head = i / blocks % a.kv_heads, row = i / blocks / a.kv_heads;
  const Segment segment = segment_of_row(a.segments, a.segment_count, row);
  const uint position = segment.first_position + row - segment.first_row;
  const int page = a.page_table[segment.first_page + position / PAGE_TOKENS];
  DEVICE uchar* place = page_place(a.slabs, a.pages_per_slab, a.page_bytes, page) + a.layer_offset +
                        head * kv_head_bytes(a.type, a.key_size, a.value_size);
  if (block < key_blocks) {
    kv_store_block(a.type, place, position % PAGE_TOKENS, a.key_size, 32 * block,
                   a.keys + ulong(row) * a.key_stride + head * a.key_size);
  } else {
    kv_store_block(a.type, place + PAGE_TOKENS * kv_token_bytes(a.type, a.key_size), position % PAGE_TOKENS,
                   a.value_size, 32 * (block - key_blocks),
                   a.values + ulong(row) * a.value_stride + head * a.value_size);
  }
}

END_KERNELS
