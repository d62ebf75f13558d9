// The final hidden states of a text's tokens to one vector: its embedding.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tempo9::engine {

// As the file's "<architecture>.pooling_type" says: the mean of all tokens, the first one, or the last.
enum class Pooling { kMean, kFirst, kLast };

struct EmbeddingInfo {
  int size = 0;                      // values of a vector
  Pooling pooling = Pooling::kMean;  // of generative models, which state none: the mean
  bool stated = false;               // the file says how, so the model was made for it
};

// kUnsupported for a pooling that gives no vector (ranking), kCorrupt for one that nobody knows.
Result<Pooling> pooling_of_type(uint64_t type);

// Takes a text's rows in the order of their positions, in any pieces. Sums are of doubles and in that order,
// so the vector does not depend on the pieces. Threads: one at a time.
class Pooler {
 public:
  explicit Pooler(Pooling pooling) : pooling_(pooling) {}

  // `rows`: any number of rows of `columns` values, the first at `position`. Position 0 begins anew.
  void add(std::span<const float> rows, int columns, int position);
  // The vector, of length 1 unless it is zero.
  std::vector<float> finish() const;

 private:
  Pooling pooling_;
  std::vector<double> sum_;
};

}  // namespace tempo9::engine
