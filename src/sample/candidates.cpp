#include "sample/candidates.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace tempo9::sample {
namespace {

// An integer that orders like the logit; both zeros are equal.
uint32_t order_key(float logit) {
  constexpr uint32_t kSign = 0x80000000;
  const auto bits = std::bit_cast<uint32_t>(logit + 0.0f);
  return bits & kSign ? ~bits : bits | kSign;
}

// `pass(i)` says whether element i stays.
template <class Pass>
void keep_if(std::vector<Candidate>& candidates, std::vector<double>& weights, const Pass& pass) {
  size_t kept = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!pass(i)) continue;
    candidates[kept] = candidates[i];
    weights[kept] = weights[i];
    ++kept;
  }
  candidates.resize(kept);
  weights.resize(kept);
}

struct Border {
  uint32_t key;       // of the logit at which the sum reaches the mass
  double mass_above;  // of all greater logits
};

Border find_border(std::span<const Candidate> candidates, std::span<const double> weights, double mass) {
  constexpr int kKeyBits = 32, kDigitBits = 11;
  std::array<double, 1 << kDigitBits> sums;
  Border border{0, 0};
  int known = 0;  // leading bits of border.key that are settled
  while (known < kKeyBits) {
    const int bits = std::min(kDigitBits, kKeyBits - known);
    const int shift = kKeyBits - known - bits;
    const uint32_t digits = 1u << bits;
    std::fill_n(sums.begin(), digits, 0.0);
    for (size_t i = 0; i < candidates.size(); ++i) {
      const uint32_t prefix = order_key(candidates[i].logit) >> shift;
      if (prefix >> bits == border.key) sums[prefix & (digits - 1)] += weights[i];
    }
    uint32_t digit = digits - 1;
    while (digit > 0 && border.mass_above + sums[digit] < mass) border.mass_above += sums[digit--];
    border.key = border.key << bits | digit;
    known += bits;
  }
  return border;
}

}  // namespace

void select_largest(std::span<const float> logits, size_t count, std::vector<Candidate>& out) {
  out.clear();
  const size_t room = std::min(2 * count + 64, logits.size());
  float bar = kBanned;  // once `count` tokens reach it, an equal logit further on comes too late
  for (size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > bar)) continue;
    out.push_back({logits[i], static_cast<TokenId>(i)});
    if (out.size() < room || out.size() <= count) continue;
    std::nth_element(out.begin(), out.begin() + (count - 1), out.end(), precedes);
    out.resize(count);
    bar = out.back().logit;
  }
  if (out.size() > count) {
    std::nth_element(out.begin(), out.begin() + (count - 1), out.end(), precedes);
    out.resize(count);
  }
  std::sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
}

void select_from(std::span<const float> logits, float lowest, std::vector<Candidate>& out) {
  constexpr size_t kGroup = 16;
  std::array<Candidate, kGroup> passing;
  out.clear();
  for (size_t begin = 0; begin < logits.size(); begin += kGroup) {
    const std::span<const float> group = logits.subspan(begin, std::min(kGroup, logits.size() - begin));
    int any = 0;
    for (const float logit : group) any |= logit >= lowest;
    if (!any) continue;
    size_t count = 0;
    for (size_t i = 0; i < group.size(); ++i) {  // no branch: which of them pass cannot be foreseen
      passing[count] = {group[i], static_cast<TokenId>(begin + i)};
      count += group[i] >= lowest;
    }
    out.insert(out.end(), passing.begin(), passing.begin() + count);
  }
}

void keep_nucleus(std::vector<Candidate>& candidates, std::vector<double>& weights, double mass) {
  const Border border = find_border(candidates, weights, mass);
  double sum = border.mass_above;
  keep_if(candidates, weights, [&](size_t i) {
    const uint32_t key = order_key(candidates[i].logit);
    if (key != border.key) return key > border.key;
    if (sum >= mass) return false;
    sum += weights[i];
    return true;
  });
}

void keep_at_least(std::vector<Candidate>& candidates, std::vector<double>& weights, double lowest) {
  keep_if(candidates, weights, [&](size_t i) { return weights[i] >= lowest; });
}

}  // namespace tempo9::sample
