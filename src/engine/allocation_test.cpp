// A step takes no memory from the system once the first ones have found out how much it needs: no thread of
// the device does, nor the one that submits. (An allocator may take a lock, or ask the kernel, at any time.)
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/model_runner.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// This program's own; the other forms end up here (under sanitizers, the one that does not throw would not).
void* operator new(std::size_t bytes) {
  return allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace tempo9::engine {
namespace {

constexpr int kChunk = 40, kDecodeSteps = 30, kSequences = 3;

class AllocationTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* source = std::getenv("TEMPO9_SOURCE_DIR");
    ASSERT_NE(source, nullptr);
    auto file = gguf::File::open(std::string(source) + "/tests/golden/" + GetParam() + ".gguf");
    ASSERT_TRUE(file.has_value()) << file.error().message;
    file_ = *file;
    auto runner = ModelRunner::load(*file_, backend::create_device("cpu", {3, ""}).value(),
                                    {.kv_memory_bytes = 64 << 20}, {});
    ASSERT_TRUE(runner.has_value()) << runner.error().message;
    runner_ = std::move(*runner);
  }

  // A chunk of a prompt for each of some sequences, then several steps of a token each. Returns the
  // allocations inside run().
  int run_round() {
    std::vector<kv::Sequence> sequences;
    for (int s = 0; s < kSequences; ++s) {
      sequences.push_back(runner_->kv().empty_sequence());
      EXPECT_TRUE(runner_->kv().grow(sequences.back(), kChunk + kDecodeSteps).has_value());
    }
    allocations = 0;
    run_step(sequences, 0, kChunk);
    for (int i = 0; i < kDecodeSteps; ++i) run_step(sequences, kChunk + i, 1);
    for (kv::Sequence& sequence : sequences) runner_->kv().release(sequence);
    return allocations;
  }

 private:
  void run_step(const std::vector<kv::Sequence>& sequences, int position, int rows) {
    const std::vector<TokenId> tokens(static_cast<size_t>(rows), 10 + position % 50);
    StepPlan plan;
    for (const kv::Sequence& sequence : sequences) plan.add({tokens, position, &sequence, Logits::kLast});
    counting = true;
    EXPECT_TRUE(runner_->run(plan).has_value());
    counting = false;
  }

  std::shared_ptr<const gguf::File> file_;
  std::unique_ptr<ModelRunner> runner_;
};

TEST_P(AllocationTest, StepsTakeNoMemoryOnceTheyHaveBeenRun) {
  EXPECT_GT(run_round(), 0);                            // buffers grow to what they need
  for (int round = 0; round < 3; ++round) run_round();  // also the last of those that are used in turn
  EXPECT_EQ(run_round(), 0);
}

INSTANTIATE_TEST_SUITE_P(Architectures, AllocationTest,
                         ::testing::Values("llama", "gemma3", "gpt_oss", "qwen3moe", "qwen35", "qwen35moe"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace tempo9::engine
