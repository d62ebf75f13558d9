#include "kv/page_pool.h"

#include <algorithm>

#include "base/check.h"

namespace tempo9::kv {

PagePool::PagePool(int group, int pages_per_slab, int max_pages, SlabSource& source)
    : group_(group), pages_per_slab_(pages_per_slab), max_pages_(max_pages), source_(source) {
  CHECK(pages_per_slab > 0 && max_pages >= 0);
}

PagePool::~PagePool() {
  for (size_t i = 0; i < slabs_.size(); ++i)
    if (slabs_[i].live) source_.release_slab(group_, static_cast<int>(i));
}

Result<PageId> PagePool::allocate() {
  if (held_ == max_pages_) return fail(ErrorCode::kOutOfMemory, "all {} KV pages are in use", max_pages_);
  if (with_room_.empty()) {
    auto dead = std::find_if(slabs_.begin(), slabs_.end(), [](const Slab& s) { return !s.live; });
    const int index = static_cast<int>(dead - slabs_.begin());
    TRY(source_.allocate_slab(group_, index));
    if (dead == slabs_.end()) slabs_.emplace_back();
    Slab& slab = slabs_[static_cast<size_t>(index)];
    slab.live = true;
    slab.references.assign(static_cast<size_t>(pages_per_slab_), 0);
    with_room_.insert(index);
    ++live_slabs_;
  }
  const int index = *with_room_.begin();
  Slab& slab = slabs_[static_cast<size_t>(index)];
  auto place = std::find(slab.references.begin(), slab.references.end(), 0);
  CHECK(place != slab.references.end());
  *place = 1;
  if (++slab.held == pages_per_slab_) with_room_.erase(index);
  ++held_;
  return index * pages_per_slab_ + static_cast<int>(place - slab.references.begin());
}

int PagePool::references(PageId page) const {
  CHECK(page >= 0 && page / pages_per_slab_ < static_cast<int>(slabs_.size()));
  const Slab& slab = slabs_[static_cast<size_t>(page / pages_per_slab_)];
  return slab.live ? slab.references[static_cast<size_t>(page % pages_per_slab_)] : 0;
}

void PagePool::add_reference(PageId page) {
  CHECK(references(page) > 0);
  ++slabs_[static_cast<size_t>(page / pages_per_slab_)]
        .references[static_cast<size_t>(page % pages_per_slab_)];
}

void PagePool::release(PageId page) {
  CHECK(references(page) > 0);
  const int index = page / pages_per_slab_;
  Slab& slab = slabs_[static_cast<size_t>(index)];
  if (--slab.references[static_cast<size_t>(page % pages_per_slab_)] > 0) return;
  --held_;
  if (--slab.held > 0) {
    with_room_.insert(index);
    return;
  }
  slab.live = false;
  with_room_.erase(index);
  --live_slabs_;
  source_.release_slab(group_, index);
}

}  // namespace tempo9::kv
