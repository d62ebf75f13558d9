// Pages of one group, cut from slabs. Pure bookkeeping: slabs come from a SlabSource that is handed in.
// A page is one number: page p is place p % pages_per_slab of slab p / pages_per_slab. Pages are counted by
// reference. A slab whose pages are all free goes back to the system. Threads: one at a time (the engine's).
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "base/result.h"

namespace tempo9::kv {

using PageId = int32_t;
inline constexpr PageId kNoPage = -1;

// Makes and gives back the device memory behind slab numbers.
class SlabSource {
 public:
  virtual ~SlabSource() = default;
  virtual Status allocate_slab(int group, int slab) = 0;
  virtual void release_slab(int group, int slab) = 0;
};

class PagePool {
 public:
  // At most `max_pages` pages exist at once. The source must outlive the pool.
  PagePool(int group, int pages_per_slab, int max_pages, SlabSource& source);
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // A page with one reference: of the lowest slab that has room, so that high slabs become empty.
  // kOutOfMemory when max_pages are held.
  Result<PageId> allocate();
  void add_reference(PageId page);
  void release(PageId page);
  int references(PageId page) const;

  int held() const { return held_; }
  int free() const { return max_pages_ - held_; }
  int max_pages() const { return max_pages_; }
  int pages_per_slab() const { return pages_per_slab_; }
  int slabs() const { return live_slabs_; }

 private:
  struct Slab {
    bool live = false;
    int held = 0;
    std::vector<int> references;  // per page
  };
  const int group_, pages_per_slab_, max_pages_;
  SlabSource& source_;
  std::vector<Slab> slabs_;
  std::set<int> with_room_;  // live slabs that have a free page
  int held_ = 0, live_slabs_ = 0;
};

}  // namespace tempo9::kv
