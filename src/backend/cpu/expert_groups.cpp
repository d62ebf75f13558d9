#include "backend/cpu/expert_groups.h"

#include "base/check.h"

namespace tempo9::backend::cpu {

// A counting sort: the slots of an expert stay in ascending order.
void ExpertGroups::make(const View& indices, int experts) {
  const int k = indices.columns, slots = indices.rows * k;
  const auto expert_of = [&](int slot) { return row_pointer<int32_t>(indices, slot / k)[slot % k]; };
  next_.assign(static_cast<size_t>(experts), 0);
  for (int s = 0; s < slots; ++s) {
    CHECK(expert_of(s) >= 0 && expert_of(s) < experts);
    ++next_[static_cast<size_t>(expert_of(s))];
  }
  experts_.clear();
  begins_.clear();
  int place = 0;
  for (int e = 0; e < experts; ++e) {
    int& next = next_[static_cast<size_t>(e)];
    const int first = place;
    place += next;
    next = first;
    if (first == place) continue;
    experts_.push_back(e);
    begins_.push_back(first);
  }
  begins_.push_back(slots);
  slots_.resize(static_cast<size_t>(slots));
  for (int s = 0; s < slots; ++s) slots_[static_cast<size_t>(next_[static_cast<size_t>(expert_of(s))]++)] = s;
}

}  // namespace tempo9::backend::cpu
