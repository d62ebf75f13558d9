// The kernel dialect on the host: each GPU thread is a fiber (emulation/group.h). Gives the bits that CUDA
// gives.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "backend/gpu/emulation/group.h"
#include "quant/half.h"

#define BEGIN_KERNELS namespace tempo9::backend::gpu {
#define END_KERNELS }
#define DEVICE
#define CONSTANT
#define SHARED
#define THREAD
#define INLINE static inline
#define UNROLL

BEGIN_KERNELS

using uint = unsigned int;
using ushort = unsigned short;
using uchar = unsigned char;
using ulong = unsigned long long;

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  uint x, y, z, w;
};

enum : uint { GROUP_THREADS = emulation::kGroupThreads, GROUP_SIMDS = emulation::kGroupThreads / 32 };

using Ctx = emulation::Ctx;

INLINE float as_float(uint v) {
  return quant::float_from_bits(v);
}
INLINE uint as_uint(float v) {
  return quant::float_to_bits(v);
}
INLINE float from_half(uint bits) {
  return quant::half_to_float(static_cast<uint16_t>(bits));
}
INLINE uint to_half(float v) {
  return quant::float_to_half(v);
}
INLINE float4 make4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
INLINE float fused(float a, float b, float c) {
  return std::fma(a, b, c);
}
INLINE float root(float v) {
  return std::sqrt(v);
}
INLINE float larger(float a, float b) {
  return std::fmax(a, b);
}
INLINE float smaller(float a, float b) {
  return std::fmin(a, b);
}
INLINE float nearest(float v) {
  return std::nearbyint(v);
}
INLINE void group_barrier() {
  emulation::wait_for_group();
}

template <class T>
T simd_shuffle_xor(T v, uint mask) {
  return emulation::exchange(v)[emulation::current_lane() ^ mask];
}
// The tree that shuffles make on a GPU: lane i adds lane i ^ m, m = 16, 8, 4, 2, 1.
INLINE float simd_total(float v) {
  float sums[32];
  std::memcpy(sums, emulation::exchange(v), sizeof sums);
  for (int m = 16; m != 0; m /= 2)
    for (int i = 0; i < m; ++i) sums[i] += sums[i + m];
  return sums[0];
}
INLINE float4 simd_total(float4 v) {
  float4 sums[32];
  std::memcpy(static_cast<void*>(sums), emulation::exchange(v), sizeof sums);
  for (int m = 16; m != 0; m /= 2) {
    for (int i = 0; i < m; ++i) {
      const float4 a = sums[i], b = sums[i + m];
      sums[i] = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    }
  }
  return sums[0];
}
INLINE float simd_largest(float v) {
  const float* all = emulation::exchange(v);
  float found = all[0];
  for (int i = 1; i < 32; ++i) found = larger(found, all[i]);
  return found;
}

END_KERNELS

#define KERNEL(name, Args, Scratch)                                                     \
  static_assert(sizeof(Scratch) <= emulation::kScratchBytes, "what every device has");  \
  INLINE void name##_body(const Ctx c, const Args& a, Scratch& s);                      \
  INLINE void name(const Ctx& c, const void* a, void* s) {                              \
    name##_body(c, *static_cast<const Args*>(a), *static_cast<Scratch*>(s));            \
  }                                                                                     \
  INLINE void name##_body([[maybe_unused]] const Ctx c, [[maybe_unused]] const Args& a, \
                          [[maybe_unused]] Scratch& s)
