// What a step costs does not grow with the number of requests in it: it is one batch.
#include <gtest/gtest.h>

#include <numeric>

#include "engine/model_runner.h"
#include "engine/testing/devices.h"
#include "model/testing/tiny_llama.h"

namespace tempo9::engine {
namespace {

class StepCostTest : public ::testing::TestWithParam<std::string> {};

TEST_P(StepCostTest, OneStepReadsEachWeightOnceHoweverManyRequestsItServes) {
  const std::string path = model::testing::TinyLlama{.format = quant::Format::kQ8_0}.write(
      ::testing::TempDir() + "tempo9_step_cost_test.gguf");
  const auto file = gguf::File::open(path).value();
  const auto runner = ModelRunner::load(*file, backend::create_device(GetParam(), {}).value(),
                                        {.kv_memory_bytes = 64 << 20}, {})
                          .value();
  std::vector<TokenId> tokens(32);
  std::iota(tokens.begin(), tokens.end(), 10);
  const auto operations = [&](int requests) {
    std::vector<kv::Sequence> sequences(static_cast<size_t>(requests), runner->kv().empty_sequence());
    StepPlan plan;
    for (kv::Sequence& sequence : sequences) {
      EXPECT_TRUE(runner->kv().grow(sequence, 2).has_value());
      plan.add({std::span(tokens).first(2), 0, &sequence, Logits::kLast});
    }
    const uint64_t before = runner->device().counters().operations;
    EXPECT_TRUE(runner->run(plan).has_value());
    const uint64_t after = runner->device().counters().operations;
    for (kv::Sequence& sequence : sequences) runner->kv().release(sequence);
    return after - before;
  };
  const uint64_t one = operations(1);
  EXPECT_GT(one, 10u);
  EXPECT_EQ(operations(16), one);
}

INSTANTIATE_TEST_SUITE_P(Devices, StepCostTest,
                         ::testing::ValuesIn(testing::with_gpu({"cpu", "deferred", "gpu_host"})));

}  // namespace
}  // namespace tempo9::engine
