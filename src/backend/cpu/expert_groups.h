// Rows of a step grouped by the matrix they ask for.
#pragma once
#include <vector>

#include "backend/host/host_kernels.h"

namespace tempo9::backend::cpu {

// Slot j of row r is number r * k + j. Keeps its memory from call to call.
class ExpertGroups {
 public:
  // indices: int32 [rows, k], each below `experts`.
  void make(const View& indices, int experts);

  int count() const { return static_cast<int>(experts_.size()); }  // experts that have slots
  int slots() const { return static_cast<int>(slots_.size()); }
  int expert(int group) const { return experts_[static_cast<size_t>(group)]; }
  // The places of a group's slots in the order of slot(): begin(group) to begin(group + 1) - 1.
  int begin(int group) const { return begins_[static_cast<size_t>(group)]; }
  int slot(int place) const { return slots_[static_cast<size_t>(place)]; }

 private:
  std::vector<int> experts_, begins_, slots_;
  std::vector<int> next_;  // of each expert, the place of its next slot
};

}  // namespace tempo9::backend::cpu
