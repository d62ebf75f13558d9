// The sampler against a plain one that sorts everything, and against the distributions it should draw from.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "sample/random.h"
#include "sample/sampler.h"
#include "sample/testing/rows.h"

namespace tempo9::sample {
namespace {

using testing::chi_square;
using testing::normal_row;
using testing::one_in_a_million;
using testing::uniform_row;

struct Entry {
  TokenId id;
  float logit;
  double weight;
};

// What a filter chain leaves, by sorting; ascending ids. Sums in long double.
std::vector<Entry> filter_by_sorting(std::span<const float> logits, const SamplingOptions& options) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<Entry> entries;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double x = (static_cast<double>(logits[i]) - largest) / options.temperature;
    if (logits[i] > kBanned) entries.push_back({static_cast<TokenId>(i), logits[i], std::exp(x)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.logit > b.logit; });
  if (options.top_k > 0) entries.resize(std::min<size_t>(entries.size(), options.top_k));
  if (options.top_p < 1) {
    long double total = 0, sum = 0;
    for (const Entry& entry : entries) total += entry.weight;
    size_t count = 0;
    while (count < entries.size() && sum < options.top_p * total) sum += entries[count++].weight;
    entries.resize(count);
  }
  std::erase_if(entries, [&](const Entry& entry) { return entry.weight < options.min_p; });
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
  return entries;
}

// The token at `draw` of the entries' sum; -1 if that is so near a border that rounding decides.
TokenId token_at(const std::vector<Entry>& entries, double draw) {
  long double total = 0, sum = 0;
  for (const Entry& entry : entries) total += entry.weight;
  for (const Entry& entry : entries) {
    sum += entry.weight;
    if (std::abs(sum / total - draw) < 1e-12) return -1;
    if (sum > draw * total) return entry.id;
  }
  return -1;
}

struct Shape {
  const char* name;
  std::vector<float> row;
};

std::vector<Shape> shapes(size_t size, uint64_t seed) {
  std::vector<Shape> result = {{"normal", normal_row(size, 3, seed)}, {"flat", normal_row(size, 0.1, seed)}};
  Shape peaked{"peaked", normal_row(size, 1, seed)};
  peaked.row[seed % size] = 12;
  result.push_back(peaked);
  Shape tied{"tied", normal_row(size, 2, seed)};
  for (float& logit : tied.row) logit = std::round(logit);
  result.push_back(tied);
  result.push_back({"equal", std::vector<float>(size, -0.5f)});
  Shape banned{"banned", normal_row(size, 3, seed)};
  for (size_t i = 0; i < size; ++i)
    if (i % 3 != seed % 3) banned.row[i] = kBanned;
  result.push_back(banned);
  Shape zeros{"zeros", std::vector<float>(size, -0.0f)};
  for (size_t i = 0; i < size; i += 2) zeros.row[i] = 0.0f;
  result.push_back(zeros);
  return result;
}

std::vector<SamplingOptions> chains() {
  std::vector<SamplingOptions> result;
  for (const float temperature : {0.3f, 1.0f, 4.0f})
    for (const int top_k : {0, 1, 7, 40, 100000})
      for (const float top_p : {1.0f, 0.95f, 0.5f, 1e-6f})
        for (const float min_p : {0.0f, 0.05f, 1.0f}) {
          SamplingOptions options;
          options.temperature = temperature;
          options.top_k = top_k;
          options.top_p = top_p;
          options.min_p = min_p;
          result.push_back(options);
        }
  return result;
}

TEST(SamplerOracle, EveryChainChoosesWhatSortingChooses) {
  constexpr uint64_t kPositions = 20;
  int compared = 0, undecided = 0;
  for (const size_t size : {1u, 5u, 300u, 2000u}) {
    for (const Shape& shape : shapes(size, size + 1)) {
      if (*std::max_element(shape.row.begin(), shape.row.end()) == kBanned) continue;
      for (SamplingOptions options : chains()) {
        options.seed = size;
        const std::vector<Entry> entries = filter_by_sorting(shape.row, options);
        Sampler sampler(options, {});
        for (uint64_t position = 0; position < kPositions; ++position) {
          const TokenId expected = token_at(entries, uniform_at(options.seed, position));
          std::vector<float> logits = shape.row;
          const TokenId token = sampler.choose(logits, position).token;
          ++compared;
          if (expected < 0)
            ++undecided;
          else
            ASSERT_EQ(token, expected)
                << shape.name << " of " << size << " T " << options.temperature << " k " << options.top_k
                << " p " << options.top_p << " min " << options.min_p;
        }
      }
    }
  }
  EXPECT_GT(compared, 90000);
  EXPECT_LT(undecided, compared / 1000);
}

// The sets themselves, so that a token too rare to be drawn above counts too.
TEST(SamplerOracle, TopKIsTheFirstOfTheSortedRow) {
  for (const Shape& shape : shapes(3000, 5)) {
    for (const int top_k : {1, 2, 39, 40, 41, 1499, 2999, 3000, 5000}) {
      SamplingOptions options;
      options.top_k = top_k;
      const std::vector<Entry> expected = filter_by_sorting(shape.row, options);
      std::vector<Candidate> candidates;
      select_largest(shape.row, static_cast<size_t>(top_k), candidates);
      ASSERT_EQ(candidates.size(), expected.size()) << shape.name << " " << top_k;
      for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(candidates[i].id, expected[i].id) << shape.name;
    }
  }
}

TEST(SamplerOracle, NucleusIsTheSmallestSetThatReachesP) {
  for (uint64_t seed = 1; seed < 6; ++seed) {
    for (const Shape& shape : shapes(3000, seed)) {
      const RelativeProbability probability(largest_logit(shape.row), 1);
      for (const float top_p : {1e-6f, 0.1f, 0.5f, 0.9f, 0.95f, 0.999f, 0.999999f}) {
        SamplingOptions options;
        options.top_p = top_p;
        const std::vector<Entry> expected = filter_by_sorting(shape.row, options);
        std::vector<Candidate> candidates;
        std::vector<double> weights;
        select_from(shape.row, -1e30, candidates);
        for (const Candidate& candidate : candidates) weights.push_back(probability(candidate.logit));
        keep_nucleus(candidates, weights, top_p * sum_of(weights));
        ASSERT_EQ(candidates.size(), expected.size()) << shape.name << " " << top_p;
        ASSERT_EQ(weights.size(), expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(candidates[i].id, expected[i].id) << shape.name << " " << top_p;
          ASSERT_EQ(weights[i], probability(candidates[i].logit));
        }
      }
    }
  }
}

TEST(SamplerOracle, NucleusKeepsAllWhenTheMassIsOutOfReach) {
  std::vector<Candidate> candidates = {{1, 0}, {-2, 1}, {0, 2}};
  std::vector<double> weights = {3, 1, 2};
  keep_nucleus(candidates, weights, 7);
  EXPECT_EQ(candidates.size(), 3u);
  keep_nucleus(candidates, weights, 5);
  ASSERT_EQ(candidates.size(), 2u);
  EXPECT_EQ(candidates[1].id, 2);
}

std::vector<double> exact_counts(std::span<const float> row, double draws) {
  const float largest = *std::max_element(row.begin(), row.end());
  std::vector<double> counts;
  for (const float logit : row) counts.push_back(std::exp(static_cast<double>(logit) - largest));
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (double& count : counts) count *= draws / total;
  return counts;
}

// One draw for each (seed, position) that `place_at` names.
template <class PlaceAt>
std::vector<double> drawn_counts(std::span<const float> row, float temperature, int draws,
                                 const PlaceAt& place_at) {
  std::vector<double> counts(row.size());
  std::vector<float> logits(row.size());
  SamplingOptions options;
  options.temperature = temperature;
  for (int i = 0; i < draws; ++i) {
    const auto [seed, position] = place_at(static_cast<uint64_t>(i));
    options.seed = seed;
    std::copy(row.begin(), row.end(), logits.begin());
    ++counts[Sampler(options, {}).choose(logits, position).token];
  }
  return counts;
}

TEST(SamplerDistribution, IsTheSoftmaxOverPositionsAndOverSeeds) {
  constexpr int kDraws = 100000;
  const std::vector<float> row = normal_row(64, 2, 11);
  const std::vector<double> expected = exact_counts(row, kDraws);
  const auto statistic_of = [&](float temperature, const auto& place_at) {
    return chi_square(expected, drawn_counts(row, temperature, kDraws, place_at));
  };
  const auto along_positions = [](uint64_t i) { return std::pair<uint64_t, uint64_t>(42, i); };
  const auto along_seeds = [](uint64_t i) { return std::pair<uint64_t, uint64_t>(i, 42); };
  const auto positions = statistic_of(1, along_positions);
  EXPECT_LT(positions.statistic, one_in_a_million(positions.freedom));
  const auto seeds = statistic_of(1, along_seeds);
  EXPECT_LT(seeds.statistic, one_in_a_million(seeds.freedom));
  // The test can tell: four percent of temperature are too much.
  const auto warmer = statistic_of(1.04f, along_positions);
  EXPECT_GT(warmer.statistic, one_in_a_million(warmer.freedom));
}

TEST(SamplerDistribution, IsTheSoftmaxOfALargeVocabulary) {
  constexpr int kDraws = 2500;
  constexpr size_t kSize = 49152, kGroup = 128;  // groups of half a block, so that places inside blocks count
  const std::vector<float> row = normal_row(kSize, 1, 12);
  const std::vector<double> expected = exact_counts(row, kDraws);
  const std::vector<double> drawn =
      drawn_counts(row, 1, kDraws, [](uint64_t i) { return std::pair<uint64_t, uint64_t>(i * 977, i); });
  std::vector<double> expected_groups(kSize / kGroup), drawn_groups(kSize / kGroup);
  for (size_t i = 0; i < kSize; ++i) {
    expected_groups[i / kGroup] += expected[i];
    drawn_groups[i / kGroup] += drawn[i];
  }
  const auto [statistic, freedom] = chi_square(expected_groups, drawn_groups);
  EXPECT_GT(freedom, 300);
  EXPECT_LT(statistic, one_in_a_million(freedom));
}

}  // namespace
}  // namespace tempo9::sample
