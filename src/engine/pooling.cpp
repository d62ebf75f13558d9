#include "engine/pooling.h"

#include <cmath>

namespace tempo9::engine {

Result<Pooling> pooling_of_type(uint64_t type) {
  switch (type) {
    case 1:
      return Pooling::kMean;
    case 2:
      return Pooling::kFirst;
    case 3:
      return Pooling::kLast;
    case 4:
      return fail(ErrorCode::kUnsupported, "models that rank texts are not supported");
    default:
      return fail(ErrorCode::kCorrupt, "{} is not a pooling type", type);
  }
}

void Pooler::add(std::span<const float> rows, int columns, int position) {
  const auto size = static_cast<size_t>(columns);
  for (; !rows.empty(); rows = rows.subspan(size), ++position) {
    const bool replaces = position == 0 || pooling_ == Pooling::kLast;
    if (!replaces && pooling_ == Pooling::kFirst) return;
    if (replaces) sum_.assign(size, 0);
    for (size_t i = 0; i < size; ++i) sum_[i] += static_cast<double>(rows[i]);
  }
}

// A mean and a sum have the same direction.
std::vector<float> Pooler::finish() const {
  double squares = 0;
  for (const double value : sum_) squares += value * value;
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  std::vector<float> vector;
  vector.reserve(sum_.size());
  for (const double value : sum_) vector.push_back(static_cast<float>(value * scale));
  return vector;
}

}  // namespace tempo9::engine
