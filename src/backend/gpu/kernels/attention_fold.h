// Splits of attention, folded in order.
#pragma once

BEGIN_KERNELS

// A score that no token has.
INLINE float no_score() {
  return -1e30f;
}

struct Fold {
  float largest, total;
  float before, added;  // what the sums before, and those that are added, are multiplied by
};

INLINE Fold fold_splits(float largest, float total, float split_largest, float split_total) {
  Fold f;
  f.largest = larger(largest, split_largest);
  f.before = exponential(largest - f.largest);
  f.added = exponential(split_largest - f.largest);
  f.total = fused(split_total, f.added, total * f.before);
  return f;
}

END_KERNELS
