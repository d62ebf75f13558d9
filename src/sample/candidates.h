// The tokens that a filter leaves, and the filters. A filter keeps a first part of the tokens in the order
// "most probable first, equal logits by lower id"; none needs the row sorted.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"
#include "sample/softmax.h"

namespace tempo9::sample {

struct Candidate {
  float logit;
  TokenId id;
};

// Whether `a` stands before `b` in the order above. Logits are not NaN.
inline bool precedes(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// The `count` (at least 1) first tokens in ascending id; fewer if fewer logits are above -infinity.
// O(row) for a count that is small beside the row.
void select_largest(std::span<const float> logits, size_t count, std::vector<Candidate>& out);

// All tokens whose logit is at least `lowest`, in ascending id.
void select_from(std::span<const float> logits, float lowest, std::vector<Candidate>& out);

// Keeps the smallest first part whose weights sum to `mass` or more; all if the sum falls short. `weights`
// are the candidates' own, both stay in ascending id. Linear: the border is found digit by digit in the
// logit's bits, by the mass of each digit. Exact up to the rounding of sums of doubles.
void keep_nucleus(std::vector<Candidate>& candidates, std::vector<double>& weights, double mass);

// Keeps those whose weight is at least `lowest`.
void keep_at_least(std::vector<Candidate>& candidates, std::vector<double>& weights, double lowest);

}  // namespace tempo9::sample
