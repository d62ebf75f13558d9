// What the kernel of heads.h is given. A norm is left out where it has no weight, rotary positions where
// there are no angles.
#pragma once
#include <cstdint>

namespace tempo9::backend::cuda {

struct HeadsSide {  // queries, or keys
  float* x;
  const float* norm_weight;
  const float* angles;
  uint32_t stride, angle_stride, heads;
  float epsilon;
};

struct HeadsArgs {
  HeadsSide queries, keys;
  const float* values;
  const int* page_table;
  const int* segments;
  const void* slabs;  // gpu::Slab
  uint64_t page_bytes, layer_offset;
  uint32_t pages_per_slab, segment_count, value_stride, size, value_size, pairs, adjacent;
};

constexpr uint32_t kHeadThreads = 128;  // the sum of a norm as in gpu::norm_factor

}  // namespace tempo9::backend::cuda
