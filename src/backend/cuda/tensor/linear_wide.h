// The kernel for many rows on chips of compute capability 9.0: warp groups multiply their decoded weights
// with rows that bulk copies bring to shared memory. The bits are those of the kernels in linear.h (layout.h:
// the contract).
#pragma once
#include "backend/cuda/tensor/linear.h"

namespace tempo9::backend::cuda {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr uint32_t kWideWarps = kWideThreads / 32;

// d = (add ? d : 0) + a * b, of sixty-four outputs; the descriptor `b` says where 16 columns of the rows lie.
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
      "%51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, add, 1, "
      "1, 0;}"
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

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void wait_barrier(uint64_t& barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;}" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void arrive_at(uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier)) : "memory");
}

// Rows of a stage, in turn.
template <int tiles>
struct WideRing {
  static constexpr uint32_t kPlaces = 4;
  uint4 rows[kPlaces][tiles][64];
  uint64_t full[kPlaces], empty[kPlaces];

  __device__ __forceinline__ void start() {
    if (threadIdx.x == 0)
      for (uint32_t i = 0; i < kPlaces; ++i) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[i])));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&empty[i])),
                     "n"(kWideWarps));
      }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
  }
  // By one thread; waits until the place is free.
  __device__ __forceinline__ void fetch(const uint32_t* from, uint32_t stage, uint32_t bytes) {
    const uint32_t place = stage % kPlaces, turn = stage / kPlaces;
    if (turn > 0) wait_barrier(empty[place], (turn - 1) % 2);
    const uint32_t barrier = shared_address(&full[place]);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(rows[place])),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
  }
  __device__ __forceinline__ void wait(uint32_t stage) {
    wait_barrier(full[stage % kPlaces], stage / kPlaces % 2);
  }
  __device__ __forceinline__ void free(uint32_t stage) {
    if (threadIdx.x % 32 == 0) arrive_at(empty[stage % kPlaces]);
  }
  // Of a stage's first 16 columns: eights of columns lie 128 bytes apart, eights of rows 1024. The next 16
  // columns are 16 further.
  __device__ __forceinline__ uint64_t descriptor(uint32_t stage) const {
    return uint64_t(shared_address(rows[stage % kPlaces]) >> 4) | uint64_t(128 >> 4) << 16 |
           uint64_t(1024 >> 4) << 32;
  }
};

// A stage with all rows; `add` is 0 for the first of a part.
template <TensorLayout layout, int tiles>
__device__ __forceinline__ void multiply_stage(const Stage<layout>& w, uint64_t rows, int add,
                                               float (&sums)[tiles][4]) {
  uint32_t a[4][4];
  w.template fragment<0>(a[0]);
  w.template fragment<1>(a[1]);
  w.template fragment<2>(a[2]);
  w.template fragment<3>(a[3]);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int step = 0; step < 4; ++step) multiply_wide(sums, a[step], rows + 16 * step, step > 0 ? 1 : add);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int t = 0; t < tiles; ++t)  // nothing that reads the sums may move before the wait
#pragma unroll
    for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(sums[t][e])::"memory");
}

// Stages asked for before they are used: a stage takes less than memory needs to answer.
constexpr uint32_t kWideAhead = 4;

// A part of the columns, in stages; those that are empty are passed over.
struct Part {
  int number = -1;
  uint32_t begin = 0, end = 0;

  __device__ __forceinline__ explicit Part(uint32_t stages) { next(stages); }
  __device__ __forceinline__ void next(uint32_t stages) {
    begin = end;
    while (end == begin && number + 1 < kParts) end = part_begin(++number + 1, stages);
  }
};

// grid: x = kWideOutputs outputs, y = tiles * 8 rows
template <TensorLayout layout, int tiles>
__global__ void __launch_bounds__(kWideThreads, 1) linear_wide(const __grid_constant__ TensorArgs a) {
  extern __shared__ __align__(1024) uint4 memory[];
  auto& ring = *reinterpret_cast<WideRing<tiles>*>(memory);
  const uint32_t lane = threadIdx.x % 32;
  const TensorOutput& o = output_of(a, blockIdx.x);
  const uint32_t group = (blockIdx.x - o.first_block) * kWideWarps + threadIdx.x / 32;
  // Warps past the last outputs go along: a warp group multiplies together.
  const uint32_t last_group = (o.outputs + kStageRows - 1) / kStageRows - 1;
  const uint8_t* stages = o.weight + size_t(min(group, last_group)) * a.stages * stage_bytes(layout);
  const uint32_t first_tile = blockIdx.y * tiles, bytes = min(a.tiles - first_tile, uint32_t(tiles)) * 1024;
  const auto fetch = [&](uint32_t stage) {
    if (threadIdx.x == 0 && stage < a.stages)
      ring.fetch(a.panels + (size_t(stage) * a.tiles + first_tile) * 256, stage, bytes);
  };
  start_next_kernel();
  ring.start();
  constexpr uint32_t ahead = WideRing<tiles>::kPlaces - 1;
  Stage<layout> w[kWideAhead];
  load_first(stages, 0, a.stages, w);
  wait_for_earlier_kernels();
  for (uint32_t stage = 0; stage < ahead; ++stage) fetch(stage);
  float totals[tiles][4] = {}, sums[tiles][4];
  Part part(a.stages);
  for (uint32_t from = 0; from < a.stages; from += kWideAhead) {
#pragma unroll
    for (uint32_t i = 0; i < kWideAhead; ++i) {
      const uint32_t stage = from + i;
      if (stage >= a.stages) break;
      ring.wait(stage);
      multiply_stage<layout, tiles>(w[i], ring.descriptor(stage), stage > part.begin ? 1 : 0, sums);
      if (stage + kWideAhead < a.stages)
        w[i].load(stages + size_t(stage + kWideAhead) * stage_bytes(layout), lane);
      ring.free(stage);
      fetch(stage + ahead);
      if (stage + 1 < part.end) continue;
      part.next(a.stages);
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) totals[t][e] += sums[t][e];
    }
  }
  if (group > last_group) return;
#pragma unroll
  for (int t = 0; t < tiles; ++t)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const uint32_t row = (first_tile + t) * 8 + 2 * (lane % 4) + e % 2;
      if (row < a.rows) write_output(a, o, 0, group * kStageRows + lane / 4 + 8 * (e / 2), row, totals[t][e]);
    }
}

#else  // compiled for chips that have none of this, and never launched there
template <TensorLayout layout, int tiles>
__global__ void linear_wide(const __grid_constant__ TensorArgs) {}
#endif

}  // namespace tempo9::backend::cuda
