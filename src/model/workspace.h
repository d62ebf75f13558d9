// The activations of one step, laid out once when a model loads: views into one buffer, each row on its own
// 64-byte line.
#pragma once
#include <memory>
#include <vector>

#include "backend/device.h"

namespace tempo9::model {

class Workspace {
 public:
  // Announces a view of `rows` x `columns`; `view` is filled in by allocate() and must stay where it is until
  // then.
  void add(backend::View& view, int rows, int columns);
  Status allocate(backend::Device& device);
  size_t bytes() const { return buffer_ ? buffer_->bytes() : 0; }

 private:
  std::vector<backend::View*> views_;
  size_t bytes_ = 0;
  std::unique_ptr<backend::Buffer> buffer_;
};

}  // namespace tempo9::model
