#include "backend/cpu/weight_arena.h"

#include <algorithm>

namespace tempo9::backend::cpu {
namespace {

// What is not used of it is never touched, and so takes no memory.
constexpr size_t kPieceBytes = 64 << 20;
constexpr size_t kAlignment = 64;

}  // namespace

std::shared_ptr<std::byte> WeightArena::take(size_t bytes) {
  const size_t taken = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex_);
  const size_t left = piece_ == nullptr ? 0 : piece_->bytes() - used_;
  if (taken <= left) {
    std::byte* data = piece_->data() + used_;
    used_ += taken;
    return {piece_, data};
  }
  std::shared_ptr<HostBuffer> piece = HostBuffer::allocate(std::max(taken, kPieceBytes));
  if (piece == nullptr) return nullptr;
  if (piece->bytes() - taken > left) {
    piece_ = piece;
    used_ = taken;
  }
  std::byte* data = piece->data();
  return {std::move(piece), data};
}

}  // namespace tempo9::backend::cpu
