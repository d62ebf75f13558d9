// The scheduler and the KV cache under random load. TEMPO9_SIMULATED_STEPS: more of it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/testing/simulator.h"

namespace tempo9::engine::testing {
namespace {

int steps() {
  const char* given = std::getenv("TEMPO9_SIMULATED_STEPS");
  return given == nullptr ? 10'000 : std::atoi(given);
}

const kv::LayerLayout kFull{kv::Keeps::kFull, 0, 64}, kWindow{kv::Keeps::kWindow, 100, 64},
    kLongWindow{kv::Keeps::kWindow, 250, 128}, kState{kv::Keeps::kState, 0, 320};

struct World {
  const char* name;
  std::vector<kv::LayerLayout> layers;
  size_t pages;  // of the first layer's size, what the memory holds
  double failing_slabs, failing_steps;
  int pass_layers = 0;
};

class SimulatorTest : public ::testing::TestWithParam<World> {};

TEST_P(SimulatorTest, NothingIsLostMixedUpOrStuck) {
  const World& world = GetParam();
  SimulatorOptions options;
  options.layout = kv::make_layout(world.layers);
  options.memory_bytes = world.pages * options.layout.groups[0].page_bytes;
  options.slab_bytes = 256;
  options.scheduler.budget.step_rows = 96;
  options.scheduler.max_running = 12;
  options.scheduler.pass_layers = world.pass_layers;
  options.failing_slabs = world.failing_slabs;
  options.failing_steps = world.failing_steps;
  const int seeds = 5;
  int64_t cached = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    options.seed = seed;
    Simulator simulator(options);
    ASSERT_NO_THROW(simulator.run(steps() / (seeds * 8)));
    cached += simulator.totals().cached_tokens;
    EXPECT_GT(simulator.totals().finished, 0);
    EXPECT_EQ(simulator.totals().passes > 0, world.pass_layers > 0);
    if (world.failing_slabs + world.failing_steps == 0) {
      EXPECT_EQ(simulator.totals().failed, 0);
    }
  }
  EXPECT_GT(cached, 0) << "nothing was ever found in the cache";
}

INSTANTIATE_TEST_SUITE_P(
    Worlds, SimulatorTest,
    ::testing::Values(World{"Full", {kFull}, 100, 0, 0}, World{"FullAndTight", {kFull}, 16, 0, 0},
                      World{"Window", {kWindow, kFull}, 100, 0, 0},
                      World{"TwoWindows", {kLongWindow, kWindow, kFull}, 60, 0, 0},
                      World{"State", {kState, kFull}, 60, 0, 0},
                      World{"StateAndTight", {kState, kFull}, 14, 0, 0},
                      World{"AllKinds", {kFull, kState, kWindow}, 200, 0, 0},
                      World{"Failures", {kFull, kState, kWindow}, 200, 0.01, 0.01},
                      World{"Passes", {kFull, kWindow}, 100, 0, 0, 4},
                      World{"PassesAndTight", {kFull}, 16, 0, 0, 4},
                      World{"PassesAndState", {kState, kFull}, 60, 0, 0, 4},
                      World{"PassesStateAndTight", {kState, kFull}, 14, 0, 0, 4},
                      World{"PassesAndFailures", {kFull, kState, kWindow}, 200, 0.01, 0.01, 4}),
    [](const auto& world) { return std::string(world.param.name); });

SimulatorOptions roomy(std::vector<kv::LayerLayout> layers) {
  SimulatorOptions options;
  options.layout = kv::make_layout(std::move(layers));
  options.memory_bytes = 1 << 20;
  options.slab_bytes = 4096;
  return options;
}

std::vector<TokenId> tokens(unsigned seed, size_t n) {
  std::mt19937 random(seed);
  std::vector<TokenId> ids(n);
  for (TokenId& id : ids) id = static_cast<TokenId>(random() % 50);
  return ids;
}

std::vector<TokenId> operator+(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Runs requests to their end, one after the other; the cached tokens of each.
std::vector<int64_t> cached_tokens(Simulator& simulator, const std::vector<std::vector<TokenId>>& prompts,
                                   int reply = 5) {
  std::vector<int64_t> cached;
  for (const auto& prompt : prompts) {
    const int64_t before = simulator.totals().cached_tokens;
    simulator.add(prompt, reply);
    simulator.run(0);
    cached.push_back(simulator.totals().cached_tokens - before);
  }
  return cached;
}

class PrefixTest : public ::testing::TestWithParam<World> {
 protected:
  Simulator simulator_{roomy(GetParam().layers)};
};

TEST_P(PrefixTest, TheNextTurnComputesOnlyWhatIsNew) {
  const auto prompt = tokens(1, 1000);
  const auto turn = prompt + Simulator::reply_to(prompt, 5) + tokens(2, 30);
  // All but the last token of the reply, which no row has read, are there.
  EXPECT_EQ(cached_tokens(simulator_, {prompt, turn}), (std::vector<int64_t>{0, 1004}));
}

TEST_P(PrefixTest, ARepeatedPromptComputesOneToken) {
  const auto prompt = tokens(1, 130);
  EXPECT_EQ(cached_tokens(simulator_, {prompt, prompt}), (std::vector<int64_t>{0, 129}));
}

TEST_P(PrefixTest, AShortPromptIsFoundToo) {
  const auto prompt = tokens(1, 40);
  EXPECT_GE(cached_tokens(simulator_, {prompt, prompt + tokens(2, 10)})[1], 39);
}

TEST_P(PrefixTest, ASharedBeginningOfAnyLengthIsFoundFromTheThirdRequestOn) {
  for (const size_t shared : {100u, 300u, 500u, 700u}) {
    std::vector<std::vector<TokenId>> prompts;
    for (unsigned i = 0; i < 5; ++i)
      prompts.push_back(tokens(static_cast<unsigned>(shared), shared) +
                        std::vector<TokenId>{static_cast<TokenId>(i)} + tokens(i, 40));
    const auto cached = cached_tokens(simulator_, prompts);
    for (size_t i = 2; i < prompts.size(); ++i) EXPECT_EQ(cached[i], static_cast<int64_t>(shared)) << i;
  }
}

TEST_P(PrefixTest, ReturningToAConversationAfterABranchFindsItAll) {
  const auto a = tokens(1, 1500), branch = tokens(1, 700) + tokens(3, 200);
  const auto cached = cached_tokens(simulator_, {a, branch, a + tokens(4, 10)});
  EXPECT_GE(cached[2], 1499);
}

TEST_P(PrefixTest, EightThatStartTogetherComputeTheSharedPartOnce) {
  const auto system = tokens(1, 4001);
  const int own = 40;
  for (unsigned i = 0; i < 8; ++i) simulator_.add(system + tokens(10 + i, own), 1);
  simulator_.run(0);
  EXPECT_EQ(simulator_.totals().finished, 8);
  EXPECT_LE(simulator_.totals().rows, (4001 + own) + 7 * (own + 64));
}

TEST_P(PrefixTest, AFollowerGoesOnWhenItsLeaderIsCancelled) {
  const auto system = tokens(1, 2000);
  const RequestId leader = simulator_.add(system + tokens(2, 5), 3);
  simulator_.add(system + tokens(3, 5), 3);
  simulator_.step();
  simulator_.step();
  EXPECT_EQ(simulator_.scheduler().waiting_count(), 1);
  EXPECT_NE(simulator_.scheduler().remove(leader), nullptr);
  simulator_.run(0);
  EXPECT_EQ(simulator_.totals().finished, 1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PrefixTest,
                         ::testing::Values(World{"Full", {kFull}, 0, 0, 0},
                                           World{"Window", {kWindow, kFull}, 0, 0, 0},
                                           World{"State", {kState, kFull}, 0, 0, 0},
                                           World{"AllKinds", {kFull, kState, kWindow}, 0, 0, 0}),
                         [](const auto& world) { return std::string(world.param.name); });

}  // namespace
}  // namespace tempo9::engine::testing
