#include "engine/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tempo9::engine {
namespace {

const std::vector<float> kRows = {1, 0, 0, 3, 4, 0, 0, 0, 8};  // three rows of three

std::vector<float> pool(Pooling pooling, size_t rows_at_once) {
  Pooler pooler(pooling);
  pooler.add(std::vector<float>{9, 9, 9}, 3, 0);  // of a run that was given up
  for (size_t row = 0; row < 3; row += rows_at_once) {
    const size_t count = std::min(rows_at_once, 3 - row);
    pooler.add(std::span(kRows).subspan(3 * row, 3 * count), 3, static_cast<int>(row));
  }
  return pooler.finish();
}

TEST(Pooling, GivesVectorsOfLengthOneHoweverTheRowsCome) {
  const double length = std::sqrt(16.0 + 16 + 64);
  const std::vector<float> mean = {static_cast<float>(4 / length), static_cast<float>(4 / length),
                                   static_cast<float>(8 / length)};
  for (const size_t at_once : {1u, 2u, 3u}) {
    const auto vector = pool(Pooling::kMean, at_once);
    for (size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(vector[i], mean[i]);
    EXPECT_EQ(pool(Pooling::kFirst, at_once), (std::vector<float>{1, 0, 0}));
    EXPECT_EQ(pool(Pooling::kLast, at_once), (std::vector<float>{0, 0, 1}));
  }
}

TEST(Pooling, ZeroStaysZero) {
  Pooler pooler(Pooling::kMean);
  pooler.add(std::vector<float>{0, 0}, 2, 0);
  EXPECT_EQ(pooler.finish(), (std::vector<float>{0, 0}));
}

TEST(Pooling, TypesAreThoseOfTheFormat) {
  EXPECT_EQ(*pooling_of_type(1), Pooling::kMean);
  EXPECT_EQ(*pooling_of_type(2), Pooling::kFirst);
  EXPECT_EQ(*pooling_of_type(3), Pooling::kLast);
  EXPECT_EQ(pooling_of_type(4).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(pooling_of_type(99).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace tempo9::engine
