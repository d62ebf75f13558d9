// Memory of the host that a GPU copies to and from by itself.
#pragma once
#include <cstddef>

#include "backend/device.h"
#include "base/result.h"

namespace tempo9::backend::cuda {

class PinnedMemory {
 public:
  PinnedMemory() = default;
  ~PinnedMemory();
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;

  // At least `bytes`; what it held is lost if it has to grow, which is seldom: to powers of two.
  Status reserve(size_t bytes);
  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

Result<std::unique_ptr<HostMemory>> allocate_pinned(size_t bytes);
// Whether it is memory of the host that GPUs reach, all of it from this place on being alike.
bool is_pinned(const std::byte* place);

}  // namespace tempo9::backend::cuda
