// The emulation runs what a GPU runs, and finds what a GPU would not forgive.
#include "backend/gpu/emulation/group.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "backend/gpu/dialect/host.h"

namespace tempo9::backend::gpu {
namespace {

using emulation::Order;

struct PlantedArgs {
  float* out;
};
struct PlantedScratch {
  float x[GROUP_THREADS];
};

KERNEL(reverse_group, PlantedArgs, PlantedScratch) {
  s.x[c.tid] = float(c.tid);
  group_barrier();
  a.out[c.tid] = s.x[GROUP_THREADS - 1 - c.tid] + float(c.group);
}
KERNEL(sum_lanes, PlantedArgs, PlantedScratch) {
  const float4 four = simd_total(make4(float(c.lane), 1.0f, 2.0f, float(c.simd)));
  a.out[c.tid] = simd_total(float(c.tid)) + simd_shuffle_xor(float(c.lane), 1) + four.x + four.w;
}
KERNEL(missing_barrier, PlantedArgs, PlantedScratch) {
  s.x[c.tid] = float(c.tid);
  a.out[c.tid] = s.x[GROUP_THREADS - 1 - c.tid];
}
KERNEL(unwritten_scratch, PlantedArgs, PlantedScratch) {
  a.out[c.tid] = s.x[c.tid];
}
KERNEL(divergent_exchange, PlantedArgs, PlantedScratch) {
  if (c.lane < 16) a.out[c.tid] = simd_total(1.0f);
}
KERNEL(divergent_barrier, PlantedArgs, PlantedScratch) {
  if (c.simd == 0) group_barrier();
}

std::vector<float> outcome(emulation::Kernel kernel, Order order, emulation::Grid grid = {}) {
  std::vector<float> out(GROUP_THREADS);
  const PlantedArgs args{out.data()};
  const auto ran = emulation::run(kernel, grid, &args, order);
  EXPECT_TRUE(ran.has_value()) << (ran ? "" : ran.error().message);
  return out;
}

std::string refusal(emulation::Kernel kernel) {
  std::vector<float> out(GROUP_THREADS);
  const PlantedArgs args{out.data()};
  const auto ran = emulation::run(kernel, {}, &args, Order::kForward);
  return ran ? "" : ran.error().message;
}

TEST(GpuGroupTest, BarriersAndExchangesInAnyOrder) {
  for (const Order order : {Order::kForward, Order::kReverse, Order::kShuffled}) {
    const auto reversed = outcome(reverse_group, order, {3, 1});
    const auto sums = outcome(sum_lanes, order);
    for (uint i = 0; i < GROUP_THREADS; ++i) {
      EXPECT_EQ(reversed[i], float(GROUP_THREADS - 1 - i) + 2);
      const float lanes = 31 * 16, simd = float(i / 32);
      EXPECT_EQ(sums[i], lanes + simd * 1024 + float(i % 32 ^ 1) + lanes + 32 * simd);
    }
  }
}
TEST(GpuGroupTest, AMissingBarrierDependsOnTheOrder) {
  EXPECT_NE(outcome(missing_barrier, Order::kReverse), outcome(missing_barrier, Order::kShuffled));
}
TEST(GpuGroupTest, UnwrittenScratchIsNoNumber) {
  for (const float v : outcome(unwritten_scratch, Order::kForward)) EXPECT_TRUE(std::isnan(v));
}
TEST(GpuGroupTest, DivergenceIsReported) {
  EXPECT_NE(refusal(divergent_exchange).find("16 of 32 lanes"), std::string::npos);
  EXPECT_NE(refusal(divergent_barrier).find("32 of 128 threads"), std::string::npos);
  EXPECT_EQ(outcome(reverse_group, Order::kForward)[0], float(GROUP_THREADS - 1)) << "after failures";
}

}  // namespace
}  // namespace tempo9::backend::gpu
