// Copies of whole pages, cut into pieces for the threads.
#include <cstring>

#include "backend/cpu/operations.h"

namespace tempo9::backend::cpu {
namespace {

constexpr size_t kBytesPerItem = 256 << 10;

}  // namespace

void run(const CopyPages& op, Context& context) {
  const auto per_page = static_cast<int>((op.page_bytes + kBytesPerItem - 1) / kBytesPerItem);
  context.pool.for_each(op.pairs.rows * per_page, [&](int item, int) {
    const auto* pair = row_pointer<const int32_t>(op.pairs, item / per_page);
    const size_t first = static_cast<size_t>(item % per_page) * kBytesPerItem;
    std::memcpy(page_pointer(op.slabs, op.pages_per_slab, op.page_bytes, pair[1]) + first,
                page_pointer(op.slabs, op.pages_per_slab, op.page_bytes, pair[0]) + first,
                std::min(kBytesPerItem, op.page_bytes - first));
  });
}

}  // namespace tempo9::backend::cpu
