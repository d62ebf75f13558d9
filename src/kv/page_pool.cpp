#include "kv/page_pool.h"

#include <algorithm>

#include "base/check.h"

namespace tempo9::kv {

PagePool::PagePool(int group, int pages_per_slab, int max_slabs, SlabSource& source)
    : group_(group), pages_per_slab_(pages_per_slab), max_slabs_(max_slabs), source_(source) {
  CHECK(pages_per_slab > 0 && max_slabs >= 0);
}

PagePool::~PagePool() {
  for (size_t i = 0; i < slabs_.size(); ++i)
    if (slabs_[i].live) source_.release_slab(group_, static_cast<int>(i));
}

Status PagePool::add_slab() {
  CHECK(may_add_slab());
  const auto dead = std::find_if(slabs_.begin(), slabs_.end(), [](const Slab& s) { return !s.live; });
  const int index = static_cast<int>(dead - slabs_.begin());
  TRY(source_.allocate_slab(group_, index));
  if (dead == slabs_.end()) slabs_.emplace_back();
  Slab& slab = slabs_[static_cast<size_t>(index)];
  slab.live = true;
  slab.touched = 0;
  slab.pages.assign(static_cast<size_t>(pages_per_slab_), Page{});
  with_room_.insert(index);
  ++live_slabs_;
  return {};
}

PageId PagePool::allocate() {
  CHECK(has_room());
  const int index = *with_room_.begin();
  Slab& slab = slabs_[static_cast<size_t>(index)];
  const auto free = std::find_if(slab.pages.begin(), slab.pages.end(),
                                 [](const Page& page) { return page.references == 0; });
  CHECK(free != slab.pages.end());
  *free = {1, false};
  const int place = static_cast<int>(free - slab.pages.begin());
  slab.touched = std::max(slab.touched, place + 1);
  if (++slab.held == pages_per_slab_) with_room_.erase(index);
  ++held_;
  return index * pages_per_slab_ + place;
}

int PagePool::touched() const {
  int sum = 0;
  for (const Slab& slab : slabs_) sum += slab.live ? slab.touched : 0;
  return sum;
}

int PagePool::references(PageId page) const {
  CHECK(page >= 0 && page / pages_per_slab_ < static_cast<int>(slabs_.size()));
  const Slab& slab = slabs_[static_cast<size_t>(page / pages_per_slab_)];
  return slab.live ? slab.pages[static_cast<size_t>(page % pages_per_slab_)].references : 0;
}

PagePool::Page& PagePool::at(PageId page) {
  CHECK(references(page) > 0);
  return slabs_[static_cast<size_t>(page / pages_per_slab_)]
      .pages[static_cast<size_t>(page % pages_per_slab_)];
}

void PagePool::add_reference(PageId page) {
  Page& p = at(page);
  cached_ -= p.only_cached();
  ++p.references;
}

void PagePool::cache(PageId page) {
  Page& p = at(page);
  CHECK(!p.in_tree);
  ++p.references;
  p.in_tree = true;
}

void PagePool::release_cached(PageId page) {
  Page& p = at(page);
  CHECK(p.in_tree);
  cached_ -= p.only_cached();
  p.in_tree = false;
  release(page);
}

void PagePool::release(PageId page) {
  Page& p = at(page);
  --p.references;
  cached_ += p.only_cached();
  if (p.references > 0) return;
  const int index = page / pages_per_slab_;
  Slab& slab = slabs_[static_cast<size_t>(index)];
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
