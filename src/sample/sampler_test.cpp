#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "sample/testing/allocations.h"
#include "sample/testing/rows.h"

namespace tempo9::sample {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

SamplingOptions greedy() {
  SamplingOptions options;
  options.temperature = 0;
  return options;
}

// Takes the row by value, since choose() changes it.
Choice choose(const SamplingOptions& options, std::vector<float> logits, uint64_t position = 0) {
  return Sampler(options, {}).choose(logits, position);
}

std::string complaint(const SamplingOptions& options) {
  const Status status = check(options, 100);
  return status ? "" : status.error().message;
}

TEST(Mask, LeavesWhatItAllows) {
  std::vector<float> logits(70, 0);
  logits[3] = 9, logits[40] = 5, logits[69] = 4;
  const std::vector<uint32_t> allowed = {0, 1u << 8, 1u << 5};  // 40 and 69
  const auto pick = [&](const SamplingOptions& options, std::vector<float> row, uint64_t position) {
    return Sampler(options, {}).choose(row, position, allowed);
  };
  EXPECT_EQ(pick(greedy(), logits, 0).token, 40);
  SamplingOptions random;
  random.temperature = 3;
  int second = 0;
  for (uint64_t position = 0; position < 200; ++position) {
    const TokenId token = pick(random, logits, position).token;
    EXPECT_TRUE(token == 40 || token == 69) << token;
    second += token == 69;
  }
  EXPECT_GT(second, 40);
  EXPECT_LT(second, 140);
}

TEST(Mask, KeepsTheModelsOwnProbabilities) {
  SamplingOptions options = greedy();
  options.top_logprobs = 1;
  std::vector<float> logits = {0, 0}, again = logits;
  const std::vector<uint32_t> allowed = {2};
  const Choice choice = Sampler(options, {}).choose(logits, 0, allowed);
  EXPECT_EQ(choice.token, 1);
  EXPECT_NEAR(choice.logprob, std::log(0.5), 1e-6);
  ASSERT_EQ(choice.top.size(), 1u);
  EXPECT_EQ(choice.top[0].token, 0);
  EXPECT_EQ(Sampler(greedy(), {}).choose(again, 0, std::vector<uint32_t>{~0u}).token, 0);
}

TEST(Mask, TakesTheFirstAllowedTokenWhereNoneHasAProbability) {
  std::vector<float> logits = {1, -kInfinity, kNan, -kInfinity};
  EXPECT_EQ(Sampler(greedy(), {}).choose(logits, 0, std::vector<uint32_t>{0b1100}).token, 2);
}

TEST(Check, AcceptsTheBordersOfEveryRange) {
  SamplingOptions options;
  EXPECT_EQ(complaint(options), "");
  options.temperature = 0;
  options.top_k = std::numeric_limits<int>::max();
  options.top_p = std::numeric_limits<float>::denorm_min();
  options.min_p = 1;
  options.repetition_penalty = std::numeric_limits<float>::max();
  options.presence_penalty = -2;
  options.frequency_penalty = 2;
  options.logit_bias = {{0, -100.0f}, {99, 100.0f}};
  options.top_logprobs = limits::kMaxTopLogprobs;
  EXPECT_EQ(complaint(options), "");
}

TEST(Check, NamesTheFieldThatIsOutOfRange) {
  const auto expect_named = [](const char* field, auto SamplingOptions::*member, auto... values) {
    for (const auto value : {values...}) {
      SamplingOptions options;
      options.*member = value;
      EXPECT_EQ(complaint(options).rfind(field, 0), 0u)
          << field << " " << value << ": " << complaint(options);
    }
  };
  expect_named("temperature", &SamplingOptions::temperature, -0.1f, kInfinity, kNan);
  expect_named("top_k", &SamplingOptions::top_k, -1);
  expect_named("top_p", &SamplingOptions::top_p, 0.0f, -1.0f, 1.0001f, kNan);
  expect_named("min_p", &SamplingOptions::min_p, -0.1f, 1.1f, kNan);
  expect_named("repetition_penalty", &SamplingOptions::repetition_penalty, 0.0f, -1.0f, kInfinity, kNan);
  expect_named("presence_penalty", &SamplingOptions::presence_penalty, -2.1f, 2.1f, kInfinity, kNan);
  expect_named("frequency_penalty", &SamplingOptions::frequency_penalty, -2.1f, 2.1f, kInfinity, kNan);
  expect_named("top_logprobs", &SamplingOptions::top_logprobs, -2, limits::kMaxTopLogprobs + 1);
  for (const auto& [token, bias] : {std::pair{-1, 0.0f}, {100, 0.0f}, {5, 101.0f}, {5, kNan}}) {
    SamplingOptions options;
    options.logit_bias = {{token, bias}};
    EXPECT_EQ(complaint(options).rfind("logit_bias", 0), 0u) << token << " " << bias;
  }
}

TEST(Greedy, TakesTheHighestLogitAndTheLowestIdOfEqualOnes) {
  EXPECT_EQ(choose(greedy(), {1, 3, 2}).token, 1);
  EXPECT_EQ(choose(greedy(), {1, 3, 2, 3}).token, 1);
  EXPECT_EQ(choose(greedy(), {-0.0f, 0.0f}).token, 0);
  for (size_t size = 1; size < 600; size += 37) {
    for (size_t place = 0; place < size; ++place) {
      std::vector<float> logits(size, -5);
      for (size_t i = place; i < size; i += 11) logits[i] = -4;
      ASSERT_EQ(choose(greedy(), logits).token, static_cast<TokenId>(place));
    }
  }
}

TEST(OddLogits, FollowTheStatedRules) {
  std::vector<SamplingOptions> chains(6);
  chains[0] = greedy();
  chains[2].top_k = 2;
  chains[3].top_p = 0.9f;
  chains[4].min_p = 0.1f;
  chains[5].top_k = 3;
  chains[5].top_p = 0.5f;
  for (SamplingOptions options : chains) {
    for (const int top_logprobs : {-1, 2}) {
      options.top_logprobs = top_logprobs;
      EXPECT_EQ(choose(options, {kNan, 1, kNan}).token, 1);
      EXPECT_EQ(choose(options, {-kInfinity, kNan, -3e38f, -kInfinity}).token, 2);
      EXPECT_EQ(choose(options, {3, kInfinity, 3e38f}).token, 1);
      EXPECT_EQ(choose(options, {kNan, kNan}).token, 0);
      EXPECT_EQ(choose(options, {-kInfinity, -kInfinity}).token, 0);
      EXPECT_EQ(choose(options, {-kInfinity}).token, 0);
      EXPECT_EQ(choose(options, std::vector<float>(700, kNan)).token, 0);
      std::vector<float> late(700, kNan);
      late[699] = -1000;
      EXPECT_EQ(choose(options, late).token, 699);
    }
  }
}

TEST(OddLogits, InfiniteOnesShareTheProbability) {
  std::vector<int> counts(4);
  for (uint64_t position = 0; position < 1000; ++position)
    ++counts[choose({}, {kInfinity, 5, kInfinity, kNan}, position).token];
  EXPECT_EQ(counts[1] + counts[3], 0);
  EXPECT_NEAR(counts[0], 500, 5 * std::sqrt(250.0));  // five standard deviations
}

TEST(OddLogits, ABannedTokenIsNeverDrawn) {
  SamplingOptions options;
  std::vector<float> row(300, -kInfinity);
  row[17] = -2000;  // no probability worth the name, but the only ones left
  row[280] = -2000;
  for (uint64_t position = 0; position < 500; ++position) {
    const TokenId token = choose(options, row, position).token;
    EXPECT_TRUE(token == 17 || token == 280) << token;
  }
}

TEST(Penalties, FollowTheirFormulasInOrder) {
  SamplingOptions options = greedy();
  options.repetition_penalty = 1.3f;
  options.presence_penalty = 0.4f;
  options.frequency_penalty = 0.25f;
  options.logit_bias = {{1, 0.5f}, {2, -0.75f}, {1, 0.125f}};
  const std::vector<TokenId> prompt = {0, 1, 1, 1, -1, 1000};  // the last two stand for no token of the row
  Sampler sampler(options, prompt);
  for (const TokenId token : {1, 3, 3, 3}) sampler.accept(token);
  const std::vector<float> row = {2, 2, 2, -2, -2};
  std::vector<float> logits = row;
  sampler.choose(logits, 0);
  EXPECT_EQ(logits[0], 2 / 1.3f);                                       // in the prompt only
  EXPECT_EQ(logits[1], (2 + 0.5f + 0.125f) / 1.3f - 0.4f - 0.25f * 1);  // both, biased first
  EXPECT_EQ(logits[2], 2 - 0.75f);                                      // biased only
  EXPECT_EQ(logits[3], -2 * 1.3f - 0.4f - 0.25f * 3);                   // in the reply, negative
  EXPECT_EQ(logits[4], -2);                                             // untouched
}

TEST(Penalties, PresenceAndFrequencyIgnoreThePrompt) {
  SamplingOptions options = greedy();
  options.presence_penalty = 2;
  options.frequency_penalty = -1;
  const std::vector<TokenId> prompt = {0};
  Sampler sampler(options, prompt);
  std::vector<float> logits = {1, 0};
  EXPECT_EQ(sampler.choose(logits, 0).token, 0);
  EXPECT_EQ(logits[0], 1);
  sampler.accept(0);
  logits = {1, 0.5f};
  EXPECT_EQ(sampler.choose(logits, 1).token, 1);
  EXPECT_EQ(logits[0], 1 - 2 + 1);
  sampler.accept(0);
  sampler.accept(0);
  logits = {1, 0.5f};
  EXPECT_EQ(sampler.choose(logits, 2).token, 0);
  EXPECT_EQ(logits[0], 1 - 2 + 3);
}

TEST(Penalties, OffMeansUntouched) {
  Sampler sampler({}, std::vector<TokenId>{0, 1});
  sampler.accept(1);
  std::vector<float> logits = {1, -2, kInfinity};
  sampler.choose(logits, 0);
  EXPECT_EQ(logits, (std::vector<float>{1, -2, kInfinity}));
}

TEST(Logprobs, AreThoseOfTheModelsOwnDistribution) {
  const std::vector<float> row = testing::normal_row(1000, 2, 3);
  long double sum = 0;
  for (const float logit : row) sum += std::exp(static_cast<long double>(logit));
  const auto truth = [&](TokenId token) { return static_cast<float>(row[token] - std::log(sum)); };

  SamplingOptions options;
  options.temperature = 3;
  options.top_k = 5;
  options.presence_penalty = 2;
  options.repetition_penalty = 1.5f;
  options.logit_bias = {{123, 90.0f}, {123, 1.0f}};  // certain to be chosen
  options.top_logprobs = 7;
  Sampler sampler(options, {});
  sampler.accept(123);
  std::vector<float> logits = row;
  const Choice choice = sampler.choose(logits, 9);
  EXPECT_EQ(choice.token, 123);
  // float rounds by 2^-24 of the value; the sum's error is far below.
  EXPECT_NEAR(choice.logprob, truth(123), 2e-6);

  std::vector<TokenId> ids(row.size());
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i);
  std::stable_sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) { return row[a] > row[b]; });
  ASSERT_EQ(choice.top.size(), 7u);
  for (size_t i = 0; i < choice.top.size(); ++i) {
    EXPECT_EQ(choice.top[i].token, ids[i]);
    EXPECT_NEAR(choice.top[i].logprob, truth(ids[i]), 2e-6);
  }
}

TEST(Logprobs, AreLeftOutUnlessAskedFor) {
  SamplingOptions options = greedy();
  EXPECT_EQ(choose(options, {1, 2}).logprob, 0);
  EXPECT_TRUE(choose(options, {1, 2}).top.empty());
  options.top_logprobs = 0;
  EXPECT_NEAR(choose(options, {1, 2}).logprob, -std::log(1 + std::exp(-1.0)), 1e-7);
  EXPECT_TRUE(choose(options, {1, 2}).top.empty());
}

TEST(Logprobs, OfTiesOddLogitsAndShortRows) {
  SamplingOptions options = greedy();
  options.top_logprobs = 3;
  const Choice tied = choose(options, {0, 1, 1, 1, 1});
  ASSERT_EQ(tied.top.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tied.top[i].token, i + 1);
  EXPECT_EQ(choose(options, {4, 3}).top.size(), 2u);
  const Choice infinite = choose(options, {1, kInfinity, kInfinity});
  EXPECT_NEAR(infinite.logprob, -std::log(2.0), 1e-7);
  EXPECT_EQ(infinite.top[2].logprob, -kInfinity);
  const Choice none = choose(options, {kNan, -kInfinity});
  EXPECT_EQ(none.logprob, -kInfinity);
  EXPECT_TRUE(none.top.empty());
  options.logit_bias = {{0, 100.0f}};
  EXPECT_EQ(choose(options, {-kInfinity, 5}).token, 1);  // no bias lifts a banned token
}

TEST(Seeds, ADrawDependsOnSeedPositionAndLogitsAlone) {
  SamplingOptions options;
  options.seed = 0x123456789abcdef0;
  Sampler busy(options, std::vector<TokenId>{1, 2, 3});
  std::vector<TokenId> in_order;
  for (uint64_t position = 0; position < 200; ++position) {
    std::vector<float> logits = testing::normal_row(500, 1, position);
    in_order.push_back(busy.choose(logits, position).token);
    busy.accept(in_order.back());
  }
  Sampler backwards(options, {});
  for (uint64_t position = 200; position-- > 0;) {
    std::vector<float> logits = testing::normal_row(500, 1, position);
    EXPECT_EQ(backwards.choose(logits, position).token, in_order[position]);
  }
  options.seed += 1;
  int equal = 0;
  for (uint64_t position = 0; position < 200; ++position)
    equal += choose(options, testing::normal_row(500, 1, position), position).token == in_order[position];
  EXPECT_LT(equal, 10);  // one in 500 / e would agree by chance
}

// The same tokens on every machine, compiler and build: the row is made by exact arithmetic, the tokens were
// recorded once.
TEST(Seeds, DrawsAreTheSameOnEveryMachine) {
  const std::vector<float> row = testing::uniform_row(5000, -8, 8, 2024);
  const auto digest = [&](const SamplingOptions& options) {
    Sampler sampler(options, {});
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a over the ids
    for (uint64_t position = 0; position < 500; ++position) {
      std::vector<float> logits = row;
      hash = (hash ^ static_cast<uint64_t>(sampler.choose(logits, position).token)) * 0x100000001b3;
    }
    return hash;
  };
  SamplingOptions plain, filtered, warm;
  plain.seed = filtered.seed = warm.seed = 99;
  filtered.temperature = 0.7f;
  filtered.top_k = 40;
  filtered.top_p = 0.9f;
  warm.temperature = 2.5f;
  warm.top_p = 0.97f;
  warm.min_p = 0.01f;
  EXPECT_EQ(digest(plain), 5280040904247174437u);
  EXPECT_EQ(digest(filtered), 7606563206537911933u);
  EXPECT_EQ(digest(warm), 924491362436849770u);
}

TEST(Scratch, NothingIsAllocatedPerToken) {
  const std::vector<float> row = testing::normal_row(20000, 2, 1);
  std::vector<float> logits(row.size());
  std::vector<SamplingOptions> chains(5);
  chains[0] = greedy();
  chains[2].top_k = 40;
  chains[3].top_p = 0.95f;
  chains[3].frequency_penalty = 0.5f;
  chains[4].min_p = 0.05f;
  chains[4].top_logprobs = 0;
  for (const SamplingOptions& options : chains) {
    Sampler sampler(options, {});
    int before = 0;
    for (uint64_t position = 0; position < 20; ++position) {
      std::copy(row.begin(), row.end(), logits.begin());
      if (position == 5) before = testing::allocations_so_far();
      sampler.choose(logits, position);
      sampler.accept(static_cast<TokenId>(position % 3));
    }
    EXPECT_EQ(testing::allocations_so_far(), before);
  }
}

}  // namespace
}  // namespace tempo9::sample
