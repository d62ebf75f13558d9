// The kernel of heads.h.
#pragma once
#include "backend/cuda/heads_args.h"
#include "backend/cuda/tensor/follow.h"
#include "backend/gpu/dialect/cuda.h"
#include "backend/gpu/kernels/args.h"
#include "backend/gpu/kernels/math.h"
#include "backend/gpu/kernels/places.h"

namespace tempo9::backend::cuda {

// Where the keys of a head lie in a row's page, as f16, and which token of the page the row is.
struct HeadPlace {
  uint16_t* keys;
  uint32_t token;
};
__device__ __forceinline__ HeadPlace place_of_head(const HeadsArgs& a, uint32_t row, uint32_t head) {
  const gpu::Segment segment = gpu::segment_of_row(a.segments, a.segment_count, row);
  const uint32_t position = segment.first_position + row - segment.first_row;
  const int page = a.page_table[segment.first_page + position / gpu::PAGE_TOKENS];
  uint8_t* place =
      gpu::page_place(static_cast<const gpu::Slab*>(a.slabs), a.pages_per_slab, a.page_bytes, page);
  place += a.layer_offset + head * gpu::kv_head_bytes(gpu::KV_F16, a.size, a.value_size);
  return {reinterpret_cast<uint16_t*>(place), position % gpu::PAGE_TOKENS};
}

// A head of a row, normed and turned; `out` is null for queries.
__device__ __forceinline__ void turn_head(const HeadsArgs& a, const HeadsSide& side, const gpu::Ctx c,
                                          float* parts, float* x, uint32_t row, uint16_t* out) {
  const bool normed = side.norm_weight != nullptr;
  const float factor = normed ? gpu::norm_factor(c, parts, x, a.size, side.epsilon) : 1.0f;
  const auto value = [&](uint32_t i) { return normed ? x[i] * factor * side.norm_weight[i] : x[i]; };
  const auto put = [&](uint32_t i, float v) {
    x[i] = v;
    if (out != nullptr) out[i] = uint16_t(gpu::to_half(v));
  };
  for (uint32_t i = c.tid; i < a.size - a.pairs; i += kHeadThreads) {
    if (i >= a.pairs) {  // a dimension that is not turned
      put(i + a.pairs, value(i + a.pairs));
      continue;
    }
    const uint32_t first = a.adjacent != 0 ? 2 * i : i, second = a.adjacent != 0 ? first + 1 : i + a.pairs;
    const float* angle = side.angles + size_t(row) * side.angle_stride + 2 * i;
    const float u = value(first), v = value(second), cosine = angle[0], sine = angle[1];
    put(first, gpu::fused(u, cosine, -(v * sine)));
    put(second, gpu::fused(u, sine, v * cosine));
  }
}

// grid: x = (row, head): those of queries, of keys, of values
__global__ void __launch_bounds__(kHeadThreads)
    prepare_heads(const __grid_constant__ HeadsArgs a, const Follow follow) {
  __shared__ float parts[gpu::GROUP_SIMDS];
  follow.begin();
  const gpu::Ctx c = {threadIdx.x, threadIdx.x % 32, threadIdx.x / 32, blockIdx.x, 0};
  const uint32_t heads = a.queries.heads + 2 * a.keys.heads, row = blockIdx.x / heads;
  const uint32_t number = blockIdx.x % heads;
  if (number < a.queries.heads) {
    follow.wait();
    turn_head(a, a.queries, c, parts, a.queries.x + size_t(row) * a.queries.stride + number * a.size, row,
              nullptr);
    return;
  }
  // Tables were there before the step's first kernel began.
  const bool is_key = number < a.queries.heads + a.keys.heads;
  const uint32_t head = number - a.queries.heads - (is_key ? 0 : a.keys.heads);
  const HeadPlace place = place_of_head(a, row, head);
  follow.wait();
  if (is_key) {
    turn_head(a, a.keys, c, parts, a.keys.x + size_t(row) * a.keys.stride + head * a.size, row,
              place.keys + place.token * a.size);
    return;
  }
  const float* values = a.values + size_t(row) * a.value_stride + head * a.value_size;
  uint16_t* out = place.keys + gpu::PAGE_TOKENS * a.size + place.token * a.value_size;
  for (uint32_t i = c.tid; i < a.value_size; i += kHeadThreads) out[i] = uint16_t(gpu::to_half(values[i]));
}

}  // namespace tempo9::backend::cuda
