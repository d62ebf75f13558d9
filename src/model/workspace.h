// The activations of a step, laid out once when a model loads: views into one buffer, each row on its own
// 64-byte line. A second buffer, a lane of its own, is there for a step that others come between.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "backend/device.h"

namespace tempo9::model {

class Workspace {
 public:
  static constexpr int kLanes = 2;

  // Announces a view of `rows` x `columns`; `view` must stay where it is as long as the workspace.
  void add(backend::View& view, int rows, int columns);
  Status allocate(backend::Device& device);
  // Memory for this lane; nothing if it is there. allocate() makes the first one's.
  Status prepare(backend::Device& device, int lane);
  // Points all views into the lane's buffer.
  void use(int lane);
  size_t bytes() const { return bytes_ * static_cast<size_t>(1 + (buffers_[1] != nullptr)); }

 private:
  std::vector<backend::View*> views_;
  size_t bytes_ = 0;
  std::array<std::unique_ptr<backend::Buffer>, kLanes> buffers_;
  int lane_ = 0;
};

}  // namespace tempo9::model
