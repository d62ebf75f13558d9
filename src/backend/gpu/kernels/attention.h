// Attention over pages. The contract that fixes the bits of one query head of one row, whatever goes with it:
//   score   = chain of fused multiply-adds over the head's dimensions, ascending, of query * scale and key;
//   split   = SPLIT_TOKENS positions, counted from the sequence's start. In it: largest score, weights
//             e^(score - largest), their sum by the tree of simd_total over every 32nd token's chain; values
//             in chains over every `subsets`-th token, the chains added in order (subsets: how often a
//             value's pieces of 8 fit into a group);
//   splits  are folded in order, the first being the sink, or nothing.
#pragma once

BEGIN_KERNELS

// Eight elements of a token's key or value; `place` is where the head's keys or values of the page begin.
INLINE void kv_load8(uint type, DEVICE const uchar* place, uint token, uint size, uint first,
                     THREAD float (&out)[8]) {
  const uint at = token * size + first;
  if (type == KV_F32) {
    DEVICE const float4* from = (DEVICE const float4*)((DEVICE const float*)place + at);
    const float4 low = from[0], high = from[1];
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
  } else if (type == KV_Q8_0) {
    DEVICE const uint* from = (DEVICE const uint*)(place + at);
    const uint low = from[0], high = from[1];
    DEVICE const ushort* scales = (DEVICE const ushort*)(place + PAGE_TOKENS * size);
    const float scale = from_half(scales[token * kv_blocks(size) + first / 32]);
    UNROLL for (uint i = 0; i < 4; ++i) {
      out[i] = float(int((low >> (8 * i) & 255u) ^ 128u) - 128) * scale;
      out[4 + i] = float(int((high >> (8 * i) & 255u) ^ 128u) - 128) * scale;
    }
  } else {
    const uint4 bits = *(DEVICE const uint4*)((DEVICE const ushort*)place + at);
    const uint words[4] = {bits.x, bits.y, bits.z, bits.w};
    UNROLL for (uint i = 0; i < 4; ++i) {
      out[2 * i] = type == KV_F16 ? from_half(words[i] & 0xffffu) : as_float(words[i] << 16);
      out[2 * i + 1] = type == KV_F16 ? from_half(words[i] >> 16) : as_float(words[i] & 0xffff0000u);
    }
  }
}

// What a group attends for: `heads` query heads of a row that share a key/value head.
struct AttentionTask {
  uint row, kv_head, first_head, heads;
  uint first_page, first, last;  // pages in the table; positions that the row sees
};

INLINE AttentionTask attention_task(CONSTANT const AttentionArgs& a, uint group) {
  const uint share = a.query_heads / a.kv_heads, tiles = (share + HEAD_TILE - 1) / HEAD_TILE;
  AttentionTask t;
  t.row = group / (a.kv_heads * tiles);
  t.kv_head = group / tiles % a.kv_heads;
  const uint head = group % tiles * HEAD_TILE;  // within its share
  t.first_head = t.kv_head * share + head;
  t.heads = share - head < HEAD_TILE ? share - head : uint(HEAD_TILE);
  const Segment segment = segment_of_row(a.segments, a.segment_count, t.row);
  t.first_page = segment.first_page;
  t.last = segment.first_position + t.row - segment.first_row;
  t.first = a.window > 0 && t.last >= a.window ? t.last - a.window + 1 : 0;
  return t;
}

// Where the keys of a position's page begin.
INLINE DEVICE const uchar* attention_place(CONSTANT const AttentionArgs& a, AttentionTask t, uint position) {
  const int page = a.page_table[t.first_page + position / PAGE_TOKENS];
  return page_place(a.slabs, a.pages_per_slab, a.page_bytes, page) + a.layer_offset +
         t.kv_head * kv_head_bytes(a.type, a.key_size, a.value_size);
}

struct AttentionScratch {
  // The queries [heads][key_size], then sums of values [subsets][heads][value_size].
  float work[GROUP_THREADS * 8 * HEAD_TILE];
  float score[HEAD_TILE][SPLIT_TOKENS];
  float sums[HEAD_TILE * MOST_HEAD_SIZE];
  float largest[HEAD_TILE], total[HEAD_TILE];          // of the split
  float all_largest[HEAD_TILE], all_total[HEAD_TILE];  // of all so far
  float before[HEAD_TILE], added[HEAD_TILE];
};

INLINE void find_scores(const Ctx c, CONSTANT const AttentionArgs& a, SHARED AttentionScratch& s,
                        AttentionTask t, uint split) {
  for (uint i = c.tid; i < SPLIT_TOKENS; i += GROUP_THREADS) {
    const uint position = split * SPLIT_TOKENS + i;
    const bool seen = position >= t.first && position <= t.last;
    float scores[HEAD_TILE];
    UNROLL for (uint h = 0; h < HEAD_TILE; ++h) scores[h] = 0.0f;
    if (seen) {
      DEVICE const uchar* keys = attention_place(a, t, position);
      for (uint d = 0; d < a.key_size; d += 8) {
        float key[8];
        kv_load8(a.type, keys, position % PAGE_TOKENS, a.key_size, d, key);
        UNROLL for (uint h = 0; h < HEAD_TILE; ++h) {
          if (h >= t.heads) continue;
          SHARED const float* query = s.work + h * a.key_size + d;
          UNROLL for (uint j = 0; j < 8; ++j) scores[h] = fused(query[j], key[j], scores[h]);
        }
      }
    }
    UNROLL for (uint h = 0; h < HEAD_TILE; ++h) s.score[h][i] = seen ? scores[h] : no_score();
  }
}

// Turns the scores of a head into weights; a SIMD group has a head.
INLINE void find_weights(const Ctx c, SHARED AttentionScratch& s, uint h) {
  float largest = no_score(), total = 0.0f;
  for (uint i = c.lane; i < SPLIT_TOKENS; i += 32) largest = larger(largest, s.score[h][i]);
  largest = simd_largest(largest);
  for (uint i = c.lane; i < SPLIT_TOKENS; i += 32) {
    const float score = s.score[h][i];
    const float weight = score > no_score() ? exponential(score - largest) : 0.0f;
    s.score[h][i] = weight;
    total += weight;
  }
  total = simd_total(total);
  if (c.lane != 0) return;
  s.largest[h] = largest;
  s.total[h] = total;
  const Fold f = fold_splits(s.all_largest[h], s.all_total[h], largest, total);
  s.all_largest[h] = f.largest;
  s.all_total[h] = f.total;
  s.before[h] = f.before;
  s.added[h] = f.added;
}

// The weighted values of each subset of tokens, into s.work.
INLINE void sum_values(const Ctx c, CONSTANT const AttentionArgs& a, SHARED AttentionScratch& s,
                       AttentionTask t, uint split, uint subsets) {
  const uint pieces = a.value_size / 8, d = c.tid % pieces * 8, subset = c.tid / pieces;
  if (subset >= subsets) return;
  const uint from = split * SPLIT_TOKENS, to = from + SPLIT_TOKENS - 1;
  const uint first = t.first > from ? t.first - from : 0, last = (t.last < to ? t.last : to) - from;
  float sums[HEAD_TILE][8];
  UNROLL for (uint h = 0; h < HEAD_TILE; ++h) UNROLL for (uint j = 0; j < 8; ++j) sums[h][j] = 0.0f;
  for (uint i = first + (subset + subsets - first % subsets) % subsets; i <= last; i += subsets) {
    DEVICE const uchar* values =
        attention_place(a, t, from + i) + PAGE_TOKENS * kv_token_bytes(a.type, a.key_size);
    float value[8];
    kv_load8(a.type, values, i % PAGE_TOKENS, a.value_size, d, value);
    UNROLL for (uint h = 0; h < HEAD_TILE; ++h) {
      if (h >= t.heads) continue;
      const float weight = s.score[h][i];
      UNROLL for (uint j = 0; j < 8; ++j) sums[h][j] = fused(weight, value[j], sums[h][j]);
    }
  }
  UNROLL for (uint h = 0; h < HEAD_TILE; ++h) {
    if (h >= t.heads) continue;
    SHARED float* out = s.work + (subset * HEAD_TILE + h) * a.value_size + d;
    UNROLL for (uint j = 0; j < 8; ++j) out[j] = sums[h][j];
  }
}

INLINE float total_of_subsets(CONSTANT const AttentionArgs& a, SHARED const AttentionScratch& s, uint h,
                              uint d, uint subsets) {
  float sum = 0.0f;
  for (uint i = 0; i < subsets; ++i) sum += s.work[(i * HEAD_TILE + h) * a.value_size + d];
  return sum;
}

INLINE void start_attention(const Ctx c, CONSTANT const AttentionArgs& a, SHARED AttentionScratch& s,
                            AttentionTask t) {
  for (uint i = c.tid; i < t.heads * a.value_size; i += GROUP_THREADS) s.sums[i] = 0.0f;
  if (c.tid >= t.heads) return;
  s.all_largest[c.tid] = a.sinks != nullptr ? a.sinks[t.first_head + c.tid] : no_score();
  s.all_total[c.tid] = a.sinks != nullptr ? 1.0f : 0.0f;
}

// grid: x = (row, key/value head, tile of its query heads), y = split from the first that the row sees, if
// there are partial results
KERNEL(attention, AttentionArgs, AttentionScratch) {
  const AttentionTask t = attention_task(a, c.group);
  uint split = t.first / SPLIT_TOKENS, last_split = t.last / SPLIT_TOKENS;
  const uint subsets = GROUP_THREADS / (a.value_size / 8);
  if (a.partial != nullptr) {
    split += c.group_y;
    if (split > last_split) return;  // the whole group
    last_split = split;
  }
  start_attention(c, a, s, t);
  for (; split <= last_split; ++split) {
    DEVICE const float* queries = a.queries + ulong(t.row) * a.query_stride + t.first_head * a.key_size;
    for (uint i = c.tid; i < t.heads * a.key_size; i += GROUP_THREADS) s.work[i] = queries[i] * a.scale;
    group_barrier();
    find_scores(c, a, s, t, split);
    group_barrier();
    if (c.simd < t.heads) find_weights(c, s, c.simd);
    group_barrier();
    sum_values(c, a, s, t, split, subsets);
    group_barrier();
    for (uint i = c.tid; i < t.heads * a.value_size; i += GROUP_THREADS) {
      const uint h = i / a.value_size, d = i % a.value_size;
      const float sum = total_of_subsets(a, s, h, d, subsets);
      if (a.partial == nullptr) {
        s.sums[i] = fused(sum, s.added[h], s.sums[i] * s.before[h]);
        continue;
      }
      const ulong place = (ulong(t.row) * a.query_heads + t.first_head + h) * a.splits + c.group_y;
      DEVICE float* partial = a.partial + place * (a.value_size + 2);
      partial[d] = sum;
      if (d == 0) {
        partial[a.value_size] = s.largest[h];
        partial[a.value_size + 1] = s.total[h];
      }
    }
    group_barrier();
  }
  if (a.partial != nullptr) return;
  DEVICE float* out = a.out + ulong(t.row) * a.out_stride + t.first_head * a.value_size;
  for (uint i = c.tid; i < t.heads * a.value_size; i += GROUP_THREADS)
    out[i] = s.sums[i] / s.all_total[i / a.value_size];
}

// Of as many splits as a group has threads.
struct MergeScratch {
  float largest[GROUP_THREADS], total[GROUP_THREADS];
  float before[GROUP_THREADS], added[GROUP_THREADS];
};

// What the sums so far and each split's are multiplied by: a thread has a split.
INLINE void find_factors(const Ctx c, SHARED MergeScratch& s, DEVICE const float* stats, uint count,
                         float largest) {
  if (c.tid < count) {
    s.largest[c.tid] = stats[0];
    s.total[c.tid] = stats[1];
  }
  group_barrier();
  if (c.tid < count) {
    for (uint i = 0; i < c.tid; ++i) largest = larger(largest, s.largest[i]);
    const Fold f = fold_splits(largest, 0.0f, s.largest[c.tid], 0.0f);
    s.before[c.tid] = f.before;
    s.added[c.tid] = f.added;
  }
  group_barrier();
}

// Folds the partial results. grid: x = (row, query head)
KERNEL(attention_merge, AttentionArgs, MergeScratch) {
  const uint row = c.group / a.query_heads, head = c.group % a.query_heads;
  const Segment segment = segment_of_row(a.segments, a.segment_count, row);
  const uint last = segment.first_position + row - segment.first_row;
  const uint first = a.window > 0 && last >= a.window ? last - a.window + 1 : 0;
  const uint splits = last / SPLIT_TOKENS - first / SPLIT_TOKENS + 1, size = a.value_size;
  DEVICE const float* partial = a.partial + ulong(c.group) * a.splits * (size + 2);
  float largest = a.sinks != nullptr ? a.sinks[head] : no_score(), total = a.sinks != nullptr ? 1.0f : 0.0f;
  float sums[MOST_HEAD_PER_THREAD];
  UNROLL for (uint i = 0; i < MOST_HEAD_PER_THREAD; ++i) sums[i] = 0.0f;
  for (uint done = 0; done < splits; done += GROUP_THREADS) {
    const uint count = splits - done < GROUP_THREADS ? splits - done : uint(GROUP_THREADS);
    find_factors(c, s, partial + ulong(done + c.tid) * (size + 2) + size, count, largest);
    for (uint some = 0; some < count; some += MERGE_AHEAD) {
      float ahead[MERGE_AHEAD][MOST_HEAD_PER_THREAD];
      UNROLL for (uint k = 0; k < MERGE_AHEAD; ++k) {
        DEVICE const float* from = partial + ulong(done + some + k) * (size + 2);
        UNROLL for (uint i = 0; i < MOST_HEAD_PER_THREAD; ++i) {
          const uint d = c.tid + i * GROUP_THREADS;
          ahead[k][i] = some + k < count && d < size ? from[d] : 0.0f;
        }
      }
      UNROLL for (uint k = 0; k < MERGE_AHEAD; ++k) {
        if (some + k >= count) continue;
        const float before = s.before[some + k], added = s.added[some + k];
        total = fused(s.total[some + k], added, total * before);
        UNROLL for (uint i = 0; i < MOST_HEAD_PER_THREAD; ++i) sums[i] =
            fused(ahead[k][i], added, sums[i] * before);
      }
    }
    for (uint i = 0; i < count; ++i) largest = larger(largest, s.largest[i]);
    group_barrier();
  }
  DEVICE float* out = a.out + ulong(row) * a.out_stride + head * size;
  UNROLL for (uint i = 0; i < MOST_HEAD_PER_THREAD; ++i) {
    const uint d = c.tid + i * GROUP_THREADS;
    if (d < size) out[d] = sums[i] / total;
  }
}

END_KERNELS
