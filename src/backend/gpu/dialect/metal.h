// The kernel dialect on Metal (MSL 3, Apple silicon: SIMD groups of 32), fast math off. Arguments are one
// structure of device pointers and scalars in buffer 0, which the host fills with GPU addresses.
// No Apple compiler has seen this file: strict_test compiles it, and the kernels through it, with clang over
// strict/metal_stdlib, where each address space is a type of its own.
#pragma once
#include <metal_stdlib>

#define BEGIN_KERNELS
#define END_KERNELS
#define DEVICE device
#define CONSTANT constant
#define SHARED threadgroup
#define THREAD thread
#define INLINE static inline
#define UNROLL _Pragma("unroll")
#ifndef GROUP_VARIABLE
#define GROUP_VARIABLE threadgroup
#endif

enum : uint { GROUP_THREADS = 128, GROUP_SIMDS = 4 };

struct Ctx {
  uint tid, lane, simd;
  uint group, group_y;
};

INLINE float as_float(uint v) {
  return metal::as_type<float>(v);
}
INLINE uint as_uint(float v) {
  return metal::as_type<uint>(v);
}
INLINE float from_half(uint bits) {
  return float(metal::as_type<half>(ushort(bits)));
}
INLINE uint to_half(float v) {
  return uint(metal::as_type<ushort>(half(v)));
}
INLINE float4 make4(float x, float y, float z, float w) {
  const float4 v = {x, y, z, w};
  return v;
}
INLINE float fused(float a, float b, float c) {
  return metal::fma(a, b, c);
}
INLINE float root(float v) {
  return metal::precise::sqrt(v);
}
INLINE float larger(float a, float b) {
  return metal::fmax(a, b);
}
INLINE float smaller(float a, float b) {
  return metal::fmin(a, b);
}
INLINE float nearest(float v) {
  return metal::rint(v);
}
INLINE void group_barrier() {
  metal::threadgroup_barrier(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup);
}
INLINE float simd_shuffle_xor(float v, uint mask) {
  return metal::simd_shuffle_xor(v, ushort(mask));
}
INLINE uint simd_shuffle_xor(uint v, uint mask) {
  return metal::simd_shuffle_xor(v, ushort(mask));
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

#define KERNEL(name, Args, Scratch)                                                       \
  static_assert(sizeof(Scratch) <= 32 * 1024, "what every device has");                   \
  INLINE void name##_body(const Ctx c, CONSTANT const Args& a, SHARED Scratch& s);        \
  [[kernel, max_total_threads_per_threadgroup(GROUP_THREADS)]] void name(                 \
      CONSTANT const Args& a [[buffer(0)]], uint3 group [[threadgroup_position_in_grid]], \
      uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],  \
      uint simd [[simdgroup_index_in_threadgroup]]) {                                     \
    GROUP_VARIABLE Scratch name##_scratch;                                                \
    const Ctx c = {tid, lane, simd, group.x, group.y};                                    \
    name##_body(c, a, name##_scratch);                                                    \
  }                                                                                       \
  INLINE void name##_body(const Ctx c, CONSTANT const Args& a, SHARED Scratch& s)
