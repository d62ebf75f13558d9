// Memory of weights, one after another in large pieces. A model has hundreds of matrices smaller than a huge
// page; side by side they are read from huge pages all the same, which nearly doubles the speed of few rows,
// and no matrix rounds up to a page of its own. Threads: any.
#pragma once
#include <memory>
#include <mutex>

#include "backend/host/host_kernels.h"

namespace tempo9::backend::cpu {

class WeightArena {
 public:
  // Zeroed and aligned to cache lines. A piece goes back to the system with the last memory taken from it.
  // Null if the system has none.
  std::shared_ptr<std::byte> take(size_t bytes);

 private:
  std::mutex mutex_;
  std::shared_ptr<HostBuffer> piece_;
  size_t used_ = 0;  // of piece_
};

}  // namespace tempo9::backend::cpu
