// What the kernels for warp groups are made of, on chips of compute capability 9.0: warp groups multiply
// their decoded weights with rows that bulk copies bring to shared memory.
#pragma once
#include "backend/cuda/tensor/bulk.h"
#include "backend/cuda/tensor/linear.h"

namespace tempo9::backend::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// d = (add ? d : 0) + a * b, of sixty-four outputs; the descriptor `b` says where 16 columns of the rows lie.
__device__ __forceinline__ void multiply_wide(float (&d)[2][4], const uint32_t (&a)[4], uint64_t b, int add) {
  asm volatile(
      "{.reg .pred add; setp.ne.b32 add, %13, 0;"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "{%8, %9, %10, %11}, %12, add, 1, 1, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
__device__ __forceinline__ void multiply_wide(float (&d)[4][4], const uint32_t (&a)[4], uint64_t b, int add) {
  asm volatile(
      "{.reg .pred add; setp.ne.b32 add, %21, 0;"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15}, "
      "{%16, %17, %18, %19}, %20, add, 1, 1, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
__device__ __forceinline__ void multiply_wide(float (&d)[8][4], const uint32_t (&a)[4], uint64_t b, int add) {
  asm volatile(
      "{.reg .pred add; setp.ne.b32 add, %37, 0;"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
      "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, add, 1, 1, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]),
        "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
        "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]),
        "+f"(d[7][2]), "+f"(d[7][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
__device__ __forceinline__ void multiply_wide(float (&d)[16][4], const uint32_t (&a)[4], uint64_t b,
                                              int add) {
  asm volatile(
      "{.reg .pred add; setp.ne.b32 add, %69, 0;"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
      "%11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
      "%31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, "
      "%51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, add, 1, 1, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]),
        "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
        "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]),
        "+f"(d[7][2]), "+f"(d[7][3]), "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]), "+f"(d[8][3]),
        "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]), "+f"(d[10][0]), "+f"(d[10][1]),
        "+f"(d[10][2]), "+f"(d[10][3]), "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3]),
        "+f"(d[12][0]), "+f"(d[12][1]), "+f"(d[12][2]), "+f"(d[12][3]), "+f"(d[13][0]), "+f"(d[13][1]),
        "+f"(d[13][2]), "+f"(d[13][3]), "+f"(d[14][0]), "+f"(d[14][1]), "+f"(d[14][2]), "+f"(d[14][3]),
        "+f"(d[15][0]), "+f"(d[15][1]), "+f"(d[15][2]), "+f"(d[15][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}

__device__ __forceinline__ void arrive_at(uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

// Rows of stages, in turn, for `warps` warps.
template <int tiles, int places, int warps>
struct RowRing {
  uint4 rows[places][tiles][64];
  uint64_t full[places], empty[places];

  // By one thread, before a barrier.
  __device__ __forceinline__ void start() {
    for (int i = 0; i < places; ++i) {
      init_barrier(full[i], 1);
      init_barrier(empty[i], warps);
    }
    publish_barriers();
  }
  // By one thread; waits until the place is free. `turn` counts from 0.
  __device__ __forceinline__ void fetch(const uint32_t* from, uint32_t turn, uint32_t bytes) {
    const uint32_t place = turn % places, round = turn / places;
    if (round > 0) wait_barrier(empty[place], (round - 1) % 2);
    copy_in_bulk(rows[place], from, bytes, full[place]);
  }
  __device__ __forceinline__ void wait(uint32_t turn) {
    wait_barrier(full[turn % places], turn / places % 2);
  }
  __device__ __forceinline__ void free(uint32_t turn) {
    if (threadIdx.x % 32 == 0) arrive_at(empty[turn % places]);
  }
  // Of a stage's first 16 columns: eights of columns lie 128 bytes apart, eights of rows 1024. The next 16
  // columns are 16 further.
  __device__ __forceinline__ uint64_t descriptor(uint32_t turn) const {
    return uint64_t(shared_address(rows[turn % places]) >> 4) | uint64_t(128 >> 4) << 16 |
           uint64_t(1024 >> 4) << 32;
  }
};

// Of a block's rows, in shared memory.
template <int rows>
struct RowFactors {
  float inverse[kParts][rows], norm[rows];

  // By threads that meet at a barrier afterwards.
  __device__ __forceinline__ void load(const TensorArgs& a, uint32_t first_row) {
    static_assert(sizeof(RowFactors) == kRowFactors * rows * 4);
    const uint32_t row = threadIdx.x;
    if (row >= rows || first_row + row >= a.rows) return;
    const float* from = a.row_factors + first_row + row;
#pragma unroll
    for (int p = 0; p < kParts; ++p) inverse[p][row] = from[p * 8 * a.tiles];
    norm[row] = norm_of(a.input, from + kParts * 8 * a.tiles, 8 * a.tiles);
  }
};

template <TensorLayout layout>
__device__ __forceinline__ void decode_stage(const Stage<layout>& w, uint32_t (&a)[4][4]) {
  w.template fragment<0>(a[0]);
  w.template fragment<1>(a[1]);
  w.template fragment<2>(a[2]);
  w.template fragment<3>(a[3]);
}

// Begins to multiply a stage with all rows; `add` is 0 for the first of a part. Until finish_stage(), neither
// `a` nor `sums` may be touched.
template <int tiles>
__device__ __forceinline__ void begin_stage(const uint32_t (&a)[4][4], uint64_t rows, int add,
                                            float (&sums)[tiles][4]) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int step = 0; step < 4; ++step) multiply_wide(sums, a[step], rows + 16 * step, step > 0 ? 1 : add);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int tiles>
__device__ __forceinline__ void finish_stage(float (&sums)[tiles][4]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int t = 0; t < tiles; ++t)  // nothing that reads the sums may move before the wait
#pragma unroll
    for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(sums[t][e])::"memory");
}

#endif

}  // namespace tempo9::backend::cuda
