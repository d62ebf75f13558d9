// Unnormalised probabilities of a row of logits, and their sums. Everything is IEEE double arithmetic in an
// order that the source fixes, exponentials included (libraries differ in the last bit), so equal logits give
// equal bits, and therefore equal tokens, on every machine.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/types.h"

namespace tempo9::sample {

inline constexpr float kBanned = -std::numeric_limits<float>::infinity();

// The greatest logit; NaN counts as -infinity, and so does an empty row.
float largest_logit(std::span<const float> logits);

// 2^x for x in [-1020, 0]; relative error below 1e-14. Other values of x give some number, never undefined
// behaviour. x = k + f with |f| <= 1/2; 2^f by its Taylor polynomial of degree 11 (remainder 7e-15), 2^k by
// adding k to the exponent field.
inline double portable_exp2(double x) {
  constexpr std::array<double, 12> c = [] {
    std::array<double, 12> coefficients{1.0};  // ln(2)^n / n!
    for (int n = 1; n < 12; ++n) coefficients[n] = coefficients[n - 1] * 0x1.62e42fefa39efp-1 / n;
    return coefficients;
  }();
  constexpr double kToInteger = 0x1.8p52;  // adding it leaves the nearest integer in the lowest bits
  const double shifted = x + kToInteger;
  const double f = x - (shifted - kToInteger);
  const double f2 = f * f, f4 = f2 * f2, f8 = f4 * f4;
  // Estrin's scheme: short chains, which a vector loop over many x overlaps.
  const double terms_0_3 = (c[0] + c[1] * f) + (c[2] + c[3] * f) * f2;
  const double terms_4_7 = (c[4] + c[5] * f) + (c[6] + c[7] * f) * f2;
  const double terms_8_11 = (c[8] + c[9] * f) + (c[10] + c[11] * f) * f2;
  const double power = (terms_0_3 + terms_4_7 * f4) + terms_8_11 * f8;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(power) + (std::bit_cast<uint64_t>(shifted) << 52));
}

// A logit's probability at a temperature, relative to that of the largest logit: e^((logit - largest) / T).
// Exactly 0 for -infinity, for NaN and below 2^-1000. If `largest` is +infinity the limit is meant: 1 for
// each infinite logit, 0 for the rest.
class RelativeProbability {
 public:
  RelativeProbability(float largest, float temperature) {
    if (largest <= std::numeric_limits<float>::max()) {
      origin_ = largest;
      scale_ = 0x1.71547652b82fep+0 / static_cast<double>(temperature);  // 1 / ln(2), for a power of 2
    }
  }

  // Without branches, and with bounds that are no constants (compilers would split the loop at those), so
  // that a loop over logits becomes vector code.
  double operator()(double logit) const {
    const double finite = logit > origin_ ? origin_ : logit;
    const double x = (finite - origin_) * scale_;
    return portable_exp2(x > floor_ ? x : floor_) - floor_weight_;  // NaN becomes the floor
  }
  // A logit below which no probability reaches `probability`, which lies in (0, 1]. Rounded downwards with
  // room for a library's log2().
  float lowest_logit(double probability) const;

 private:
  // As they stand: between all floats and +infinity, at a scale that makes every finite logit negligible.
  double origin_ = 0x1p130;
  double scale_ = 1e300;
  double floor_ = -1000, floor_weight_ = portable_exp2(-1000);
};

// First index at which the running sum of `weights` exceeds `mass`. If rounding leaves none, the last index
// whose weight is not 0; 0 if there is no such index either.
size_t index_at(std::span<const double> weights, double mass);
double sum_of(std::span<const double> weights);

// Sums over a row, kept per block so that a draw looks into one block only.
class RowSums {
 public:
  // Returns the sum over the whole row.
  double compute(std::span<const float> logits, const RelativeProbability& probability);
  // The token at which the running sum over the row (of the last compute(), with the same arguments) exceeds
  // `mass`. Never a token of probability 0 unless all are.
  TokenId token_at(std::span<const float> logits, const RelativeProbability& probability, double mass) const;

 private:
  std::vector<double> blocks_;
};

}  // namespace tempo9::sample
