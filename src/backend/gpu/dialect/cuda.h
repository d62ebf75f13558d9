// The kernel dialect on CUDA. A kernel file includes nothing: whoever compiles it includes one mapping first.
// Compiled with -fmad=false: products and sums are fused only where a kernel says `fused`.
#pragma once
#include "backend/cuda/tensor/follow.h"

#define BEGIN_KERNELS namespace tempo9::backend::gpu {
#define END_KERNELS }
#define DEVICE
#define CONSTANT
#define SHARED
#define THREAD
#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")

BEGIN_KERNELS

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned char uchar;
typedef unsigned long long ulong;

enum : uint { GROUP_THREADS = 128, GROUP_SIMDS = 4 };

struct Ctx {
  uint tid, lane, simd;  // within the group; within the SIMD group; which SIMD group
  uint group, group_y;   // place in the grid
};

INLINE float as_float(uint v) {
  return __uint_as_float(v);
}
INLINE uint as_uint(float v) {
  return __float_as_uint(v);
}
INLINE float from_half(uint bits) {
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(static_cast<ushort>(bits)));
  return v;
}
INLINE uint to_half(float v) {
  ushort bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
}
INLINE float4 make4(float x, float y, float z, float w) {
  return make_float4(x, y, z, w);
}
INLINE float fused(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
INLINE float root(float v) {
  return __fsqrt_rn(v);
}
INLINE float larger(float a, float b) {
  return fmaxf(a, b);
}
INLINE float smaller(float a, float b) {
  return fminf(a, b);
}
INLINE float nearest(float v) {
  return rintf(v);
}
INLINE void group_barrier() {
  __syncthreads();
}
INLINE float simd_shuffle_xor(float v, uint mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}
INLINE uint simd_shuffle_xor(uint v, uint mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}
INLINE float simd_total(float v) {
  UNROLL for (uint m = 16; m != 0; m >>= 1) v += simd_shuffle_xor(v, m);
  return v;
}
INLINE float4 simd_total(float4 v) {
  return make4(simd_total(v.x), simd_total(v.y), simd_total(v.z), simd_total(v.w));
}
INLINE float simd_largest(float v) {
  UNROLL for (uint m = 16; m != 0; m >>= 1) v = larger(v, simd_shuffle_xor(v, m));
  return v;
}

END_KERNELS

#define KERNEL(name, Args, Scratch)                                                          \
  static_assert(sizeof(Scratch) <= 32 * 1024, "what every device has");                      \
  INLINE void name##_body(const Ctx c, const Args& a, Scratch& s);                           \
  __global__ void __launch_bounds__(GROUP_THREADS)                                           \
      name(const __grid_constant__ Args a, const cuda::Follow follow) {                      \
    __shared__ Scratch s;                                                                    \
    follow.begin();                                                                          \
    follow.wait();                                                                           \
    const Ctx c = {threadIdx.x, threadIdx.x % 32, threadIdx.x / 32, blockIdx.x, blockIdx.y}; \
    name##_body(c, a, s);                                                                    \
    follow.end();                                                                            \
  }                                                                                          \
  INLINE void name##_body(const Ctx c, const Args& a, Scratch& s)
