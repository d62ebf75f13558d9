// Copies of whole pages.
#include <cstring>

#include "backend/reference/reference_kernels.h"

namespace tempo9::backend::reference {

void run(const CopyPages& op) {
  for (int i = 0; i < op.pairs.rows; ++i) {
    const auto* pair = row_pointer<const int32_t>(op.pairs, i);
    std::memcpy(page_pointer(op.slabs, op.pages_per_slab, op.page_bytes, pair[1]),
                page_pointer(op.slabs, op.pages_per_slab, op.page_bytes, pair[0]), op.page_bytes);
  }
}

}  // namespace tempo9::backend::reference
