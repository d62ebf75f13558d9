#include "sample/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tempo9::sample {
namespace {

constexpr size_t kBlock = 256;
constexpr size_t kLanes = 8;  // independent sums: enough to hide the latency of an addition

template <class Value, class Combine>
Value fold(const std::array<Value, kLanes>& lanes, const Combine& combine) {
  return combine(combine(combine(lanes[0], lanes[1]), combine(lanes[2], lanes[3])),
                 combine(combine(lanes[4], lanes[5]), combine(lanes[6], lanes[7])));
}

std::span<const float> block_of(std::span<const float> logits, size_t block) {
  const size_t begin = block * kBlock;
  return logits.subspan(begin, std::min(kBlock, logits.size() - begin));
}

using BlockWeights = std::array<double, kBlock>;  // 0 beyond the row's end

void weigh_block(std::span<const float> logits, const RelativeProbability& probability, BlockWeights& out) {
  out.fill(kBanned);
  std::copy(logits.begin(), logits.end(), out.begin());
  for (double& value : out) value = probability(value);
}

}  // namespace

float largest_logit(std::span<const float> logits) {
  std::array<float, kLanes> lanes;
  lanes.fill(kBanned);
  const auto greater = [](float a, float b) { return b > a ? b : a; };  // keeps `a` if b is NaN
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = greater(lanes[lane], logits[i + lane]);
  for (; i < logits.size(); ++i) lanes[0] = greater(lanes[0], logits[i]);
  return fold(lanes, greater);
}

float RelativeProbability::lowest_logit(double probability) const {
  constexpr double kRoom = 0.5;
  constexpr float kGreatest = std::numeric_limits<float>::max();
  const double lowest = origin_ + std::log2(probability * kRoom) / scale_;
  if (lowest > kGreatest) return std::numeric_limits<float>::infinity();
  return static_cast<float>(std::max(lowest, -static_cast<double>(kGreatest)));
}

double sum_of(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  return sum;
}

size_t index_at(std::span<const double> weights, double mass) {
  double sum = 0;
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    sum += weights[i];
    last = i;
    if (sum > mass) break;
  }
  return last;
}

double RowSums::compute(std::span<const float> logits, const RelativeProbability& probability) {
  blocks_.resize((logits.size() + kBlock - 1) / kBlock);
  BlockWeights weights;
  for (size_t block = 0; block < blocks_.size(); ++block) {
    weigh_block(block_of(logits, block), probability, weights);
    std::array<double, kLanes> lanes{};
    for (size_t i = 0; i < kBlock; i += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += weights[i + lane];
    blocks_[block] = fold(lanes, std::plus<>());
  }
  return sum_of(blocks_);
}

TokenId RowSums::token_at(std::span<const float> logits, const RelativeProbability& probability,
                          double mass) const {
  const size_t block = index_at(blocks_, mass);
  const double before = sum_of(std::span(blocks_).first(block));
  BlockWeights weights;
  weigh_block(block_of(logits, block), probability, weights);
  return static_cast<TokenId>(block * kBlock + index_at(weights, mass - before));
}

}  // namespace tempo9::sample
