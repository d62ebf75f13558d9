// Where sequences, pages and states lie.
#pragma once

BEGIN_KERNELS

struct Segment {
  uint first_row, rows, first_position, first_page;
};

INLINE Segment segment_at(DEVICE const int* segments, uint index) {
  DEVICE const int* s = segments + 4 * index;
  const Segment found = {uint(s[0]), uint(s[1]), uint(s[2]), uint(s[3])};
  return found;
}

// Which segment has a row; segments follow each other in the order of their rows.
INLINE uint segment_index_of_row(DEVICE const int* segments, uint count, uint row) {
  uint low = 0, high = count;
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (uint(segments[4 * middle]) <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}
INLINE Segment segment_of_row(DEVICE const int* segments, uint count, uint row) {
  return segment_at(segments, segment_index_of_row(segments, count, row));
}

INLINE DEVICE uchar* page_place(DEVICE const Slab* slabs, uint pages_per_slab, ulong page_bytes, int page) {
  return slabs[uint(page) / pages_per_slab].base + uint(page) % pages_per_slab * page_bytes;
}

// How a head's keys (or values) of a page lie: [64 tokens][size] elements; for q8_0, then [64][blocks] f16
// scales of 32 elements each. All its values follow all its keys.
INLINE uint kv_blocks(uint size) {
  return (size + 31) / 32;
}
INLINE uint kv_token_bytes(uint type, uint size) {
  if (type == KV_Q8_0) return size + 2 * kv_blocks(size);
  return size * (type == KV_F32 ? 4 : 2);
}
INLINE uint kv_head_bytes(uint type, uint key_size, uint value_size) {
  return PAGE_TOKENS * (kv_token_bytes(type, key_size) + kv_token_bytes(type, value_size));
}

END_KERNELS
