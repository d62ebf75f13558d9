// Attention over f16 pages on tensor cores, for one row of a sequence as for many. The bits of a query head
// of a row do not depend on what is computed with it:
//   query   times scale and a power of two of its own, as the sum of two f16, the second what the first
//   lacks; score   one chain of multiplies of 16 dimensions, each with the first f16 and then with the
//   second; split   SPLIT_TOKENS positions from the sequence's start. In it: the largest score, weights
//   e^(score -
//           largest) as two f16 again, their sum per page in a fixed tree and the pages' in order, and one
//           chain of multiplies of 16 positions;
//   splits  are folded in order, the first being the sink, or nothing (gpu::fold_splits).
// What a row does not see has weight 0, which leaves a chain's sum as it is.
#pragma once
#include "backend/cuda/tensor/args.h"
#include "backend/cuda/tensor/follow.h"
#include "backend/cuda/tensor/mma.h"
#include "backend/gpu/dialect/cuda.h"
#include "backend/gpu/kernels/args.h"
#include "backend/gpu/kernels/math.h"
#include "backend/gpu/kernels/places.h"

#include "backend/gpu/kernels/attention_fold.h"

namespace tempo9::backend::cuda {

constexpr uint32_t kSplit = gpu::SPLIT_TOKENS, kPage = gpu::PAGE_TOKENS;
constexpr uint32_t kWarps = kAttentionThreads / 32;
static_assert(kSplit == kWarps * kPage, "a warp finds the scores of a page");
constexpr float kWeightScale = 16384.0f;  // of weights as f16, so that small ones keep their bits

// Query rows of a block: a query row is a head of a row, numbered head by head in a segment.
struct QueryTile {
  gpu::Segment segment;
  uint32_t kv_head, share, first, count;
  uint32_t window;

  __device__ __forceinline__ uint32_t row(uint32_t q) const { return (first + q) / share; }
  __device__ __forceinline__ uint32_t head(uint32_t q) const { return kv_head * share + (first + q) % share; }
  __device__ __forceinline__ uint32_t last_seen(uint32_t q) const { return segment.first_position + row(q); }
  __device__ __forceinline__ uint32_t first_seen(uint32_t q) const {
    const uint32_t last = last_seen(q);
    return window > 0 && last >= window ? last - window + 1 : 0;
  }
};

// The tile of `size` query rows with this number; count is 0 if there are fewer. Lanes look at a segment
// each.
__device__ __forceinline__ QueryTile find_tile(const gpu::AttentionArgs& a, uint32_t number, uint32_t size) {
  QueryTile tile{};
  tile.kv_head = number % a.kv_heads;
  tile.share = a.query_heads / a.kv_heads;
  tile.window = a.window;
  number /= a.kv_heads;
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t first = 0; first < a.segment_count; first += 32) {
    const uint32_t rows = first + lane < a.segment_count ? uint32_t(a.segments[4 * (first + lane) + 1]) : 0;
    const uint32_t tiles = (rows * tile.share + size - 1) / size;
    uint32_t through = tiles;
#pragma unroll
    for (uint32_t d = 1; d < 32; d *= 2) {
      const uint32_t before = __shfl_up_sync(0xffffffffu, through, d);
      if (lane >= d) through += before;
    }
    const uint32_t beyond = __ballot_sync(0xffffffffu, through > number);
    if (beyond == 0) {
      number -= __shfl_sync(0xffffffffu, through, 31);
      continue;
    }
    const uint32_t found = __ffs(beyond) - 1;
    tile.segment = gpu::segment_at(a.segments, first + found);
    tile.first = (number - __shfl_sync(0xffffffffu, through - tiles, found)) * size;
    tile.count = min(tile.segment.rows * tile.share - tile.first, size);
    return tile;
  }
  return tile;
}

template <int size, int tiles>
struct AttentionScratch {
  uint4 queries[tiles][size / 16][2][32];  // A operands, first f16s and second ones
  uint4 weights[tiles][kSplit / 16][2][32];
  float largest[kWarps][16 * tiles], total[kWarps][16 * tiles];
  float query_factor[16 * tiles];   // takes the power of two off
  const uint8_t* pages[3][kWarps];  // of three splits in turn; null where nobody sees one
};

// Two values as f16 pairs: rounded, and what that lacks.
struct HalfPairs {
  uint32_t first, second;
};
__device__ __forceinline__ HalfPairs split_pair(float low, float high) {
  const uint32_t first = to_half2(low, high);
  return {first, to_half2(low - gpu::from_half(first & 0xffffu), high - gpu::from_half(first >> 16))};
}

// Keys are read 16 bytes at a time: of 32 dimensions, lane t of four has 8 t .. 8 t + 7, four for each of two
// multiplies. Queries are laid out to match.
template <int size, int tiles>
__device__ __forceinline__ void place_queries(const gpu::AttentionArgs& a, const QueryTile& tile,
                                              AttentionScratch<size, tiles>& s) {
  const uint32_t lane = threadIdx.x % 32;
  constexpr int pairs = size / 64;  // of a lane
#pragma unroll 1
  for (uint32_t q = threadIdx.x / 32; q < 16 * tiles; q += kWarps) {
    const bool there = q < tile.count;
    float2 x[pairs] = {};
    float factor = 1.0f;
    if (there) {
      const float* from =
          a.queries + size_t(tile.segment.first_row + tile.row(q)) * a.query_stride + tile.head(q) * size;
#pragma unroll
      for (int i = 0; i < pairs; ++i) x[i] = reinterpret_cast<const float2*>(from)[lane + 32 * i];
      float largest = 0.0f;
#pragma unroll
      for (int i = 0; i < pairs; ++i) {
        x[i].x *= a.scale, x[i].y *= a.scale;
        largest = fmaxf(largest, fmaxf(fabsf(x[i].x), fabsf(x[i].y)));
      }
      factor = row_scale(gpu::simd_largest(largest));
    }
    if (lane == 0) s.query_factor[q] = 1.0f / factor;
#pragma unroll
    for (int i = 0; i < pairs; ++i) {
      const HalfPairs halves = split_pair(x[i].x * factor, x[i].y * factor);
      const uint32_t d = 2 * (lane + 32 * i), step = d / 32 * 2 + d % 8 / 4;
      const uint32_t place = q % 8 * 4 + d % 32 / 8, word = q % 16 / 8 + 2 * (d % 4 / 2);
      reinterpret_cast<uint32_t*>(&s.queries[q / 16][step][0][place])[word] = halves.first;
      reinterpret_cast<uint32_t*>(&s.queries[q / 16][step][1][place])[word] = halves.second;
    }
  }
}

__device__ __forceinline__ void multiply(float (&c)[4], uint4 a, uint32_t b0, uint32_t b1) {
  const uint32_t words[4] = {a.x, a.y, a.z, a.w};
  multiply(c, words, b0, b1);
}

// Products of all queries with a page's keys.
template <int size, int tiles>
__device__ __forceinline__ void multiply_keys(const uint8_t* keys, const AttentionScratch<size, tiles>& s,
                                              float (&scores)[tiles][8][4]) {
  constexpr int together = size > 128 ? 2 : 4;  // eights of positions
  const uint32_t lane = threadIdx.x % 32;
  const uint8_t* mine = keys + lane / 4 * (2 * size) + lane % 4 * 16;
#pragma unroll
  for (int j = 0; j < 8; j += together) {
    uint4 key[together][size / 32];
#pragma unroll
    for (int n = 0; n < together; ++n)
#pragma unroll
      for (int c = 0; c < size / 32; ++c)
        key[n][c] = *reinterpret_cast<const uint4*>(mine + (j + n) * (16 * size) + c * 64);
#pragma unroll
    for (int step = 0; step < size / 16; ++step)
#pragma unroll
      for (int m = 0; m < tiles; ++m) {
        const uint4 first = s.queries[m][step][0][lane], second = s.queries[m][step][1][lane];
#pragma unroll
        for (int n = 0; n < together; ++n) {
          const uint4 k = key[n][step / 2];
          const uint32_t b0 = step % 2 == 0 ? k.x : k.z, b1 = step % 2 == 0 ? k.y : k.w;
          multiply(scores[m][j + n], first, b0, b1);
          multiply(scores[m][j + n], second, b0, b1);
        }
      }
  }
}

// A lane has rows lane / 4 + 8 r of the tile.
template <int tiles>
struct SeenByLane {
  uint32_t first[2 * tiles], last[2 * tiles];
  float factor[2 * tiles];
};

__device__ __forceinline__ float quad_largest(float v) {
  v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 1));
  return fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 2));
}
__device__ __forceinline__ float quad_total(float v) {
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  return v + __shfl_xor_sync(0xffffffffu, v, 2);
}
// e^x for x <= 0
__device__ __forceinline__ float weight_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}

// Scores of a page, which begins at `position`, become weights in scratch memory.
template <int size, int tiles>
__device__ __forceinline__ void find_weights(uint32_t position, const SeenByLane<tiles>& seen,
                                             float (&scores)[tiles][8][4], AttentionScratch<size, tiles>& s,
                                             float (&largest)[2 * tiles]) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int r = 0; r < 2 * tiles; ++r) {
    float most = gpu::no_score();
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& score = scores[r / 2][j][2 * (r % 2) + e];
        const uint32_t at = position + 8 * j + 2 * (lane % 4) + e;
        score = at >= seen.first[r] && at <= seen.last[r] ? score * seen.factor[r] : gpu::no_score();
        most = fmaxf(most, score);
      }
    most = quad_largest(most);
    if (lane % 4 == 0) s.largest[warp][lane / 4 + 8 * r] = most;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 2 * tiles; ++r) {
    const uint32_t q = lane / 4 + 8 * r;
    largest[r] = fmaxf(fmaxf(s.largest[0][q], s.largest[1][q]), fmaxf(s.largest[2][q], s.largest[3][q]));
    const float base = largest[r] > gpu::no_score() ? largest[r] : 0.0f;
    float total = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float(&score)[4] = scores[r / 2][j];
      const float low = weight_of(score[2 * (r % 2)] - base), high = weight_of(score[2 * (r % 2) + 1] - base);
      total += low;
      total += high;
      const HalfPairs halves = split_pair(low * kWeightScale, high * kWeightScale);
      score[2 * (r % 2)] = __uint_as_float(halves.first);
      score[2 * (r % 2) + 1] = __uint_as_float(halves.second);
    }
    total = quad_total(total);
    if (lane % 4 == 0) s.total[warp][q] = total;
  }
#pragma unroll
  for (int m = 0; m < tiles; ++m)
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      const auto bits = [&](int n, int e) { return __float_as_uint(scores[m][j + n][e]); };
      uint4(&place)[2][32] = s.weights[m][warp * 4 + j / 2];
      place[0][lane] = make_uint4(bits(0, 0), bits(0, 2), bits(1, 0), bits(1, 2));
      place[1][lane] = make_uint4(bits(0, 1), bits(0, 3), bits(1, 1), bits(1, 3));
    }
  __syncthreads();
}

// A lane's `words` pairs of dimensions of a token; zeros if `there` is false.
template <int words>
__device__ __forceinline__ void load_value(const uint8_t* place, bool there, uint32_t (&out)[words]) {
#pragma unroll
  for (int i = 0; i < words; ++i) out[i] = 0;
  if (!there) return;
  if constexpr (words == 4) {
    const uint4 v = *reinterpret_cast<const uint4*>(place);
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
  } else if constexpr (words == 2) {
    const uint2 v = *reinterpret_cast<const uint2*>(place);
    out[0] = v.x, out[1] = v.y;
  } else {
    out[0] = *reinterpret_cast<const uint32_t*>(place);
  }
}

// Adds a page's weighted values. A warp has a quarter of the dimensions, of which lane / 4 has `size / 32` in
// a row: dimension i of each makes a multiply.
template <int size, int tiles>
__device__ __forceinline__ void multiply_values(const uint8_t* values, uint32_t page, uint32_t tokens,
                                                const AttentionScratch<size, tiles>& s,
                                                float (&sums)[tiles][size / 32][4]) {
  constexpr int each = size / 32, words = each / 2;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint8_t* mine = values + warp * (size / 4) * 2 + lane / 4 * (each * 2);
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    uint32_t value[2][4][words];
#pragma unroll
    for (int step = 0; step < 2; ++step)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint32_t token = 32 * half + 16 * step + 2 * (lane % 4) + i % 2 + 8 * (i / 2);
        load_value(mine + token * (2 * size), token < tokens, value[step][i]);
      }
#pragma unroll
    for (int step = 0; step < 2; ++step)
#pragma unroll
      for (int m = 0; m < tiles; ++m) {
        const uint4(&weights)[2][32] = s.weights[m][page * 4 + 2 * half + step];
        const uint4 first = weights[0][lane], second = weights[1][lane];
#pragma unroll
        for (int i = 0; i < each; ++i) {
          const uint32_t select = i % 2 == 0 ? 0x5410 : 0x7632;
          const uint32_t b0 = __byte_perm(value[step][0][i / 2], value[step][1][i / 2], select);
          const uint32_t b1 = __byte_perm(value[step][2][i / 2], value[step][3][i / 2], select);
          multiply(sums[m][i], first, b0, b1);
          multiply(sums[m][i], second, b0, b1);
        }
      }
  }
}

__device__ __forceinline__ const uint8_t* page_of(const gpu::AttentionArgs& a, const QueryTile& tile,
                                                  uint32_t position, uint32_t head_bytes) {
  const int page = a.page_table[tile.segment.first_page + position / kPage];
  return gpu::page_place(a.slabs, a.pages_per_slab, a.page_bytes, page) + a.layer_offset +
         tile.kv_head * head_bytes;
}

// Page tables were there before the step's first kernel began, so this may come before the wait for earlier
// kernels, by each thread for itself; so may asking for what pages hold to come to the L2 cache, whatever is
// written there in the meantime.
template <int size, int tiles>
__device__ __forceinline__ void find_pages(const gpu::AttentionArgs& a, const QueryTile& tile, uint32_t split,
                                           AttentionScratch<size, tiles>& s) {
  constexpr uint32_t head_bytes = 2 * kPage * size * 2;
  if (threadIdx.x >= kWarps) return;
  const uint32_t position = split * kSplit + threadIdx.x * kPage;
  const bool visible = position <= tile.last_seen(tile.count - 1) && position + kPage > tile.first_seen(0);
  s.pages[split % 3][threadIdx.x] = visible ? page_of(a, tile, position, head_bytes) : nullptr;
}
template <int size, int tiles>
__device__ __forceinline__ void ask_for_pages(uint32_t split, const AttentionScratch<size, tiles>& s) {
  constexpr uint32_t head_bytes = 2 * kPage * size * 2;
  const uint8_t* page = s.pages[split % 3][threadIdx.x / 32];
  if (page == nullptr) return;
#pragma unroll 1
  for (uint32_t at = threadIdx.x % 32 * 128; at < head_bytes; at += 32 * 128)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(page + at));
}

// What a lane has of its rows' results: all splits so far.
template <int size, int tiles>
struct Attended {
  float sums[tiles][size / 32][4];
  float largest[2 * tiles], total[2 * tiles];
};

// Row r of a lane's results, times `factor`, to a head's place. Element e of multiply i is dimension
// i of those that `(warp, lane, e)` has in a row.
template <int size, int tiles>
__device__ __forceinline__ void put_row(float* head, const float (&sums)[tiles][size / 32][4], int r,
                                        float divisor) {
  constexpr int each = size / 32;
  auto* place =
      reinterpret_cast<float2*>(head + threadIdx.x / 32 * (size / 4) + threadIdx.x % 4 * (2 * each));
#pragma unroll
  for (int e = 0; e < 2; ++e)
#pragma unroll
    for (int i = 0; i < each; i += 2)
      place[(e * each + i) / 2] = make_float2(sums[r / 2][i][2 * (r % 2) + e] / divisor,
                                              sums[r / 2][i + 1][2 * (r % 2) + e] / divisor);
}

template <int size, int tiles>
__device__ __forceinline__ void write_partial(const gpu::AttentionArgs& a, const QueryTile& tile,
                                              uint32_t split, const float (&sums)[tiles][size / 32][4],
                                              const float (&largest)[2 * tiles],
                                              const float (&total)[2 * tiles]) {
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < 2 * tiles; ++r) {
    const uint32_t q = lane / 4 + 8 * r;
    if (q >= tile.count) continue;
    const uint32_t first = tile.first_seen(q) / kSplit, last = tile.last_seen(q) / kSplit;
    if (split < first || split > last) continue;
    const size_t row = size_t(tile.segment.first_row + tile.row(q)) * a.query_heads + tile.head(q);
    float* partial = a.partial + (row * a.splits + split - first) * (size + 2);
    put_row<size, tiles>(partial, sums, r, 1.0f);
    if (threadIdx.x % 4 != 0 || threadIdx.x >= 32) continue;
    partial[size] = largest[r];
    partial[size + 1] = total[r];
  }
}

template <int size, int tiles>
__device__ __forceinline__ void fold_in(const float (&sums)[tiles][size / 32][4],
                                        const float (&largest)[2 * tiles], const float (&total)[2 * tiles],
                                        Attended<size, tiles>& all) {
#pragma unroll
  for (int r = 0; r < 2 * tiles; ++r) {
    const gpu::Fold fold = gpu::fold_splits(all.largest[r], all.total[r], largest[r], total[r]);
    all.largest[r] = fold.largest;
    all.total[r] = fold.total;
#pragma unroll
    for (int i = 0; i < size / 32; ++i)
#pragma unroll
      for (int e = 2 * (r % 2); e < 2 * (r % 2) + 2; ++e)
        all.sums[r / 2][i][e] =
            gpu::fused(sums[r / 2][i][e], fold.added, all.sums[r / 2][i][e] * fold.before);
  }
}

// The split's pages are known (find_pages).
template <int size, int tiles>
__device__ __forceinline__ void attend_split(const gpu::AttentionArgs& a, const QueryTile& tile,
                                             const SeenByLane<tiles>& seen, uint32_t split,
                                             AttentionScratch<size, tiles>& s, Attended<size, tiles>& all) {
  constexpr uint32_t key_bytes = kPage * size * 2;
  const uint32_t last = tile.last_seen(tile.count - 1), warp = threadIdx.x / 32;
  const uint8_t* const(&pages)[kWarps] = s.pages[split % 3];
  float scores[tiles][8][4] = {};
  if (pages[warp] != nullptr) multiply_keys(pages[warp], s, scores);
  float largest[2 * tiles], total[2 * tiles];
  find_weights(split * kSplit + warp * kPage, seen, scores, s, largest);
  float sums[tiles][size / 32][4] = {};
#pragma unroll 1
  for (uint32_t page = 0; page < kWarps; ++page)
    if (pages[page] != nullptr)
      multiply_values(pages[page] + key_bytes, page, last + 1 - (split * kSplit + page * kPage), s, sums);
#pragma unroll
  for (int r = 0; r < 2 * tiles; ++r) {
    const uint32_t q = threadIdx.x % 32 / 4 + 8 * r;
    total[r] = s.total[0][q] + s.total[1][q] + s.total[2][q] + s.total[3][q];
#pragma unroll
    for (int i = 0; i < size / 32; ++i)
#pragma unroll
      for (int e = 2 * (r % 2); e < 2 * (r % 2) + 2; ++e) sums[r / 2][i][e] *= 1.0f / kWeightScale;
  }
  if (a.partial != nullptr)
    write_partial<size, tiles>(a, tile, split, sums, largest, total);
  else
    fold_in<size, tiles>(sums, largest, total, all);
}

// grid: x = (tile of query rows, key/value head), y = split from the first that the tile sees, if there are
// partial results
template <int size, int tiles>
__global__ void __launch_bounds__(kAttentionThreads, tiles == 1 && size <= 128 ? 3 : 2)
    attend(const __grid_constant__ gpu::AttentionArgs a, const Follow follow) {
  extern __shared__ uint4 memory[];
  auto& s = *reinterpret_cast<AttentionScratch<size, tiles>*>(memory);
  follow.begin();
  const QueryTile tile = find_tile(a, blockIdx.x, 16 * tiles);
  if (tile.count == 0) return;  // the whole block
  uint32_t split = tile.first_seen(0) / kSplit, last_split = tile.last_seen(tile.count - 1) / kSplit;
  if (a.partial != nullptr) {
    split += blockIdx.y;
    if (split > last_split) return;
    last_split = split;
  }
  find_pages(a, tile, split, s);
  __syncthreads();
  ask_for_pages(split, s);
  follow.wait();
  place_queries<size, tiles>(a, tile, s);
  __syncthreads();
  SeenByLane<tiles> seen;
  Attended<size, tiles> all = {};
#pragma unroll
  for (int r = 0; r < 2 * tiles; ++r) {
    const uint32_t q = threadIdx.x % 32 / 4 + 8 * r;
    const bool there = q < tile.count;
    seen.first[r] = there ? tile.first_seen(q) : 1;
    seen.last[r] = there ? tile.last_seen(q) : 0;
    seen.factor[r] = s.query_factor[q];
    const bool sink = there && a.sinks != nullptr;
    all.largest[r] = sink ? a.sinks[tile.head(q)] : gpu::no_score();
    all.total[r] = sink ? 1.0f : 0.0f;
  }
#pragma unroll 1
  for (; split <= last_split; ++split) {
    // Those of the split before are used until all have done with it; these are known before all meet again.
    if (split < last_split) find_pages(a, tile, split + 1, s);
    attend_split<size, tiles>(a, tile, seen, split, s, all);
  }
  if (a.partial != nullptr) return;
#pragma unroll
  for (int r = 0; r < 2 * tiles; ++r) {
    const uint32_t q = threadIdx.x % 32 / 4 + 8 * r;
    if (q >= tile.count) continue;
    float* out = a.out + size_t(tile.segment.first_row + tile.row(q)) * a.out_stride + tile.head(q) * size;
    put_row<size, tiles>(out, all.sums, r, all.total[r]);
  }
}

}  // namespace tempo9::backend::cuda
