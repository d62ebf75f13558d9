// Keys and values in 8 bits in whole models: half the memory of f16, nearly the same logits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "engine/model_runner.h"

namespace tempo9::engine {
namespace {

class KvTypesTest : public ::testing::TestWithParam<const char*> {
 protected:
  struct Outcome {
    std::vector<float> logits;
    size_t page_bytes = 0;  // of the first group
  };
  // All logits of one chunk, which reads its own keys and values back from the pages.
  Outcome run(backend::KvType type) {
    Outcome outcome;
    const std::string source = std::getenv("TEMPO9_SOURCE_DIR");
    const auto file = gguf::File::open(source + "/tests/golden/" + GetParam() + ".gguf").value();
    auto runner = ModelRunner::load(*file, backend::create_device("cpu", {2, ""}).value(),
                                    {.kv_type = type, .kv_memory_bytes = 64 << 20}, {})
                      .value();
    std::vector<TokenId> tokens;
    for (int i = 0; i < 60; ++i) tokens.push_back((37 * i + 11) % 100);
    kv::Sequence sequence = runner->kv().empty_sequence();
    EXPECT_TRUE(runner->kv().grow(sequence, 60).has_value());
    StepPlan plan;
    plan.add({tokens, 0, &sequence, Logits::kAll});
    const std::span<float> logits = runner->run(plan).value();
    outcome.logits.assign(logits.begin(), logits.end());
    outcome.page_bytes = runner->kv().layout().groups[0].page_bytes;
    runner->kv().release(sequence);
    return outcome;
  }
};

double rms_of_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::pow(a[i] - b[i], 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

// Beside bf16. Its elements are off by about 2^-9 / sqrt(3) of themselves; those of 8 bits by 1 / (254
// sqrt(3)) of the largest of 32, which is about 2.2 times the rms: 4.5 times as much, in the rms of logits at
// most ten times. (Models with experts are no measure: a hair's breadth in routing changes a row.)
TEST_P(KvTypesTest, EightBitsAreHalfTheMemoryAndNearlyTheSameLogits) {
  const Outcome f16 = run(backend::KvType::kF16), q8 = run(backend::KvType::kQ8_0);
  const Outcome bf16 = run(backend::KvType::kBF16);
  ASSERT_EQ(f16.logits.size(), q8.logits.size());
  const double difference = rms_of_difference(f16.logits, q8.logits);
  EXPECT_GT(difference, 0);
  EXPECT_LT(difference, 10 * rms_of_difference(f16.logits, bf16.logits));
  EXPECT_LT(static_cast<double>(q8.page_bytes), 0.57 * static_cast<double>(f16.page_bytes));
}

INSTANTIATE_TEST_SUITE_P(Architectures, KvTypesTest, ::testing::Values("llama", "gemma3", "qwen3"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace tempo9::engine
