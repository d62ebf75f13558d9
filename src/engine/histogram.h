// Counts of values by size, in fixed memory: what a metric needs to show a distribution.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tempo9::engine {

class Histogram {
 public:
  static constexpr size_t kMostBounds = 20;

  // `bounds` ascend and live as long as the program; the last class holds what is above them all.
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds.first(std::min(bounds.size(), kMostBounds))) {}

  void observe(double value) {
    const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    ++counts_[static_cast<size_t>(at)];
    ++count_;
    sum_ += value;
  }

  std::span<const double> bounds() const { return bounds_; }
  uint64_t in_class(size_t i) const { return counts_[i]; }  // bounds[i - 1] < value <= bounds[i]
  uint64_t count() const { return count_; }
  double sum() const { return sum_; }

 private:
  std::span<const double> bounds_;
  std::array<uint64_t, kMostBounds + 1> counts_{};
  uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace tempo9::engine
