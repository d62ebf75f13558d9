#include "sample/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sample/testing/rows.h"

namespace tempo9::sample {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Known answers published with the generator: Random123, tests/kat_vectors, philox4x32 with 10 rounds.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UniformUsesAllBitsOfSeedAndPosition) {
  // Words 0 and 1 of the first known answer, 53 bits of them.
  EXPECT_EQ(uniform_at(0, 0), static_cast<double>(0xe169c58d6627e8d5 >> 11) * 0x1p-53);
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(uniform_at(uint64_t{1} << bit, 0), uniform_at(0, 0)) << bit;
    EXPECT_NE(uniform_at(0, uint64_t{1} << bit), uniform_at(0, 0)) << bit;
  }
}

// Pairs of numbers that stand side by side, in position or in seed, fill a grid evenly.
TEST(Philox, NeighboursAreIndependent) {
  constexpr int kGrid = 16, kPairs = 100000;
  const auto check_pairs = [&](const auto& pair_at) {
    std::vector<double> expected(kGrid * kGrid, static_cast<double>(kPairs) / (kGrid * kGrid));
    std::vector<double> observed(kGrid * kGrid, 0);
    for (int i = 0; i < kPairs; ++i) {
      const auto [a, b] = pair_at(static_cast<uint64_t>(i));
      ++observed[static_cast<size_t>(a * kGrid) * kGrid + static_cast<size_t>(b * kGrid)];
    }
    const auto [statistic, freedom] = testing::chi_square(expected, observed);
    EXPECT_EQ(freedom, kGrid * kGrid - 1);
    EXPECT_LT(statistic, testing::one_in_a_million(freedom));
  };
  check_pairs([](uint64_t i) { return std::pair(uniform_at(7, i), uniform_at(7, i + 1)); });
  check_pairs([](uint64_t i) { return std::pair(uniform_at(i, 7), uniform_at(i + 1, 7)); });
  check_pairs([](uint64_t i) { return std::pair(uniform_at(i, i), uniform_at(i, i + 1)); });
}

TEST(PortableExp2, IsAccurate) {
  double worst = 0;
  for (uint64_t i = 0; i < 200000; ++i) {
    const double x = -1020 * uniform_at(1, i) * (i % 2 ? 1.0 : 0.01);
    const long double truth = std::exp2(static_cast<long double>(x));
    worst = std::max(worst, static_cast<double>(std::abs((portable_exp2(x) - truth) / truth)));
  }
  EXPECT_LT(worst, 1e-14);
  EXPECT_EQ(portable_exp2(0), 1.0);
  EXPECT_EQ(portable_exp2(-0.0), 1.0);
  EXPECT_EQ(portable_exp2(-1000), 0x1p-1000);
}

TEST(RelativeProbability, TreatsOddLogitsAsDocumented) {
  const RelativeProbability ordinary(3, 1);
  EXPECT_EQ(ordinary(3), 1.0);
  EXPECT_EQ(ordinary(-kInfinity), 0.0);
  EXPECT_EQ(ordinary(kNan), 0.0);
  EXPECT_GT(ordinary(3 - 690.0f), 0.0);
  EXPECT_EQ(ordinary(3 - 694.0f), 0.0);
  EXPECT_EQ(ordinary(-std::numeric_limits<float>::max()), 0.0);
  EXPECT_NEAR(RelativeProbability(3, 2)(1), std::exp(-1.0), 1e-15);
  const RelativeProbability coldest(3, std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(coldest(3), 1.0);
  EXPECT_EQ(coldest(std::nextafter(3.0f, 0.0f)), 0.0);
  const RelativeProbability hottest(3, std::numeric_limits<float>::max());
  EXPECT_EQ(hottest(-100), 1.0);
  EXPECT_EQ(hottest(-kInfinity), 0.0);
  const RelativeProbability infinite(kInfinity, 1);
  EXPECT_EQ(infinite(kInfinity), 1.0);
  EXPECT_EQ(infinite(std::numeric_limits<float>::max()), 0.0);
  EXPECT_EQ(infinite(kNan), 0.0);
}

TEST(RelativeProbability, LowestLogitNeverExcludesTooMuch) {
  for (const float temperature : {0.1f, 1.0f, 5.0f}) {
    const RelativeProbability probability(2, temperature);
    for (uint64_t i = 0; i < 1000; ++i) {
      const auto logit = static_cast<float>(2 - 20 * uniform_at(3, i));
      EXPECT_GE(logit, probability.lowest_logit(probability(logit)));
    }
  }
  EXPECT_EQ(RelativeProbability(kInfinity, 1).lowest_logit(0.5), kInfinity);
  constexpr float kGreatest = std::numeric_limits<float>::max();
  EXPECT_EQ(RelativeProbability(0, kGreatest).lowest_logit(1e-9), -kGreatest);
}

TEST(LargestLogit, SkipsNanInEveryLane) {
  for (size_t size = 1; size < 40; ++size) {
    for (size_t place = 0; place < size; ++place) {
      std::vector<float> row(size, kNan);
      row[place] = -7;
      EXPECT_EQ(largest_logit(row), -7) << size << " " << place;
      std::fill(row.begin(), row.end(), -8.0f);
      row[place] = kNan;
      EXPECT_EQ(largest_logit(row), size == 1 ? kBanned : -8.0f) << size << " " << place;
    }
  }
  EXPECT_EQ(largest_logit({}), kBanned);
}

TEST(IndexAt, FindsTheFirstSumAboveTheMass) {
  const std::vector<double> weights = {0, 1, 0, 2, 0};
  EXPECT_EQ(index_at(weights, 0), 1u);
  EXPECT_EQ(index_at(weights, 0.999), 1u);
  EXPECT_EQ(index_at(weights, 1), 3u);
  EXPECT_EQ(index_at(weights, 2.999), 3u);
  EXPECT_EQ(index_at(weights, 3), 3u);  // beyond the sum: the last that has weight
  EXPECT_EQ(index_at(weights, -1e-18), 1u);
  EXPECT_EQ(index_at(std::vector<double>{0, 0}, 0), 0u);
}

TEST(RowSums, AgreesWithALongDoubleSumAtEverySize) {
  for (const size_t size : {1u, 7u, 8u, 255u, 256u, 257u, 1000u, 49152u}) {
    const std::vector<float> row = testing::normal_row(size, 3, size);
    const float largest = largest_logit(row);
    const RelativeProbability probability(largest, 1);
    long double truth = 0;
    for (const float logit : row) truth += std::exp(static_cast<long double>(logit) - largest);
    RowSums sums;
    // A weight is off by 1e-14 at most; additions round by 2^-53 and form chains of at most
    // 32 + 3 + size / 256.
    const double tolerance = 1e-14 + 0x1p-53 * (35.0 + static_cast<double>(size) / 256);
    EXPECT_NEAR(sums.compute(row, probability) / static_cast<double>(truth), 1, tolerance) << size;
  }
}

// The bits themselves, recorded once: no machine, compiler or level of optimisation may change them.
TEST(RowSums, HasTheSameBitsOnEveryMachine) {
  const std::vector<float> row = testing::uniform_row(5000, -8, 8, 2024);
  RowSums sums;
  const double sum = sums.compute(row, RelativeProbability(largest_logit(row), 0.7f));
  EXPECT_EQ(std::bit_cast<uint64_t>(sum), 4642008734751256377u);
}

}  // namespace
}  // namespace tempo9::sample
