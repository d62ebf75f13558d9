// Rows of logits and statistics for this room's tests. Rows are made from the Philox generator (checked
// against its published vectors), so they are the same everywhere.
#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sample/random.h"
#include "sample/softmax.h"

namespace tempo9::sample::testing {

// Values of a multiple of 2^-20 in [low, high): made without rounding that could differ.
inline std::vector<float> uniform_row(size_t size, float low, float high, uint64_t seed) {
  std::vector<float> row(size);
  for (size_t i = 0; i < size; ++i)
    row[i] = low + (high - low) * static_cast<float>(std::floor(uniform_at(seed, i) * 0x1p20) * 0x1p-20);
  return row;
}

// Normal values (Box and Muller), as logits of real models roughly are.
inline std::vector<float> normal_row(size_t size, double deviation, uint64_t seed) {
  std::vector<float> row(size);
  for (size_t i = 0; i < size; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - uniform_at(seed, 2 * i)));
    row[i] =
        static_cast<float>(deviation * radius * std::cos(6.283185307179586 * uniform_at(seed, 2 * i + 1)));
  }
  return row;
}

// Pearson's statistic and the number of its degrees of freedom; cells that expect fewer than 5 are merged.
struct ChiSquare {
  double statistic = 0;
  int freedom = -1;
};

inline ChiSquare chi_square(std::span<const double> expected, std::span<const double> observed) {
  ChiSquare result;
  double pooled_expected = 0, pooled_observed = 0;
  const auto add = [&](double e, double o) {
    result.statistic += (o - e) * (o - e) / e;
    ++result.freedom;
  };
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] >= 5) {
      add(expected[i], observed[i]);
    } else {
      pooled_expected += expected[i];
      pooled_observed += observed[i];
    }
  }
  if (pooled_expected > 0) add(pooled_expected, pooled_observed);
  return result;
}

// The value that a chi-square variable exceeds with a chance of one in a million, by Wilson and Hilferty's
// approximation: the cube root of x / k is nearly normal with mean 1 - 2 / (9 k) and variance 2 / (9 k).
// 4.7534 is the normal distribution's own such value.
inline double one_in_a_million(int freedom) {
  const double variance = 2.0 / (9.0 * freedom);
  return freedom * std::pow(1 - variance + 4.7534 * std::sqrt(variance), 3);
}

}  // namespace tempo9::sample::testing
