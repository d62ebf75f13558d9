#include "model/workspace.h"

namespace tempo9::model {

void Workspace::add(backend::View& view, int rows, int columns) {
  constexpr int kFloatsPerLine = 16;
  view = {nullptr, bytes_, rows, columns, (columns + kFloatsPerLine - 1) / kFloatsPerLine * kFloatsPerLine};
  bytes_ += static_cast<size_t>(rows) * static_cast<size_t>(view.stride) * sizeof(float);
  views_.push_back(&view);
}

Status Workspace::allocate(backend::Device& device) {
  TRY_ASSIGN(buffer_, device.allocate(bytes_));
  for (backend::View* view : views_) view->buffer = buffer_.get();
  views_.clear();
  return {};
}

}  // namespace tempo9::model
