#include "model/workspace.h"

namespace tempo9::model {

void Workspace::add(backend::View& view, int rows, int columns) {
  constexpr int kFloatsPerLine = 16;
  view = {nullptr, bytes_, rows, columns, (columns + kFloatsPerLine - 1) / kFloatsPerLine * kFloatsPerLine};
  bytes_ += static_cast<size_t>(rows) * static_cast<size_t>(view.stride) * sizeof(float);
  views_.push_back(&view);
}

Status Workspace::allocate(backend::Device& device) {
  TRY(prepare(device, 0));
  use(0);
  return {};
}

Status Workspace::prepare(backend::Device& device, int lane) {
  auto& buffer = buffers_.at(static_cast<size_t>(lane));
  if (buffer) return {};
  TRY_ASSIGN(buffer, device.allocate(bytes_));
  return {};
}

void Workspace::use(int lane) {
  backend::Buffer* buffer = buffers_.at(static_cast<size_t>(lane)).get();
  if (lane == lane_ && views_.front()->buffer == buffer) return;
  for (backend::View* view : views_) view->buffer = buffer;
  lane_ = lane;
}

}  // namespace tempo9::model
