// A step reads only the experts that its rows ask for, in a whole model.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "engine/model_runner.h"
#include "engine/testing/devices.h"

namespace tempo9::engine {
namespace {

// As in tests/golden/qwen3moe.gguf.
constexpr uint64_t kLayers = 2, kExperts = 8, kUsed = 2;
constexpr uint64_t kMatrices = 3;  // of an expert: gate, up, down

class ExpertsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const char* source = std::getenv("TEMPO9_SOURCE_DIR");
    ASSERT_NE(source, nullptr);
    auto file = gguf::File::open(std::string(source) + "/tests/golden/qwen3moe.gguf");
    ASSERT_TRUE(file.has_value()) << file.error().message;
    file_ = *file;
    auto runner = ModelRunner::load(*file_, backend::create_device(GetParam(), {}).value(),
                                    {.kv_memory_bytes = 64 << 20}, {});
    ASSERT_TRUE(runner.has_value()) << runner.error().message;
    runner_ = std::move(*runner);
  }

  // Matrices read by one step of `rows` different tokens.
  uint64_t read_by_step(int rows) {
    std::vector<TokenId> tokens(static_cast<size_t>(rows));
    std::iota(tokens.begin(), tokens.end(), 10);
    kv::Sequence sequence = runner_->kv().empty_sequence();
    EXPECT_TRUE(runner_->kv().grow(sequence, rows).has_value());
    StepPlan plan;
    plan.add({tokens, 0, &sequence, Logits::kLast});
    const uint64_t before = runner_->device().counters().expert_matrices;
    EXPECT_TRUE(runner_->run(plan).has_value());
    runner_->kv().release(sequence);
    return runner_->device().counters().expert_matrices - before;
  }

  std::shared_ptr<const gguf::File> file_;
  std::unique_ptr<ModelRunner> runner_;
};

TEST_P(ExpertsTest, OneRowReadsTheExpertsItUses) {
  EXPECT_EQ(read_by_step(1), kLayers * kMatrices * kUsed);
}

TEST_P(ExpertsTest, ManyRowsReadEachExpertOnce) {
  const uint64_t two = read_by_step(2), many = read_by_step(100);
  EXPECT_LE(two, kLayers * kMatrices * 2 * kUsed);
  EXPECT_EQ(many, kLayers * kMatrices * kExperts);
}

INSTANTIATE_TEST_SUITE_P(Devices, ExpertsTest,
                         ::testing::ValuesIn(testing::with_gpu({"cpu", "deferred", "gpu_host"})));

}  // namespace
}  // namespace tempo9::engine
