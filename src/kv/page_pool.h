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
  // At most `max_slabs` slabs exist at once. The source must outlive the pool.
  PagePool(int group, int pages_per_slab, int max_slabs, SlabSource& source);
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // Whether allocate() finds a page without another slab.
  bool has_room() const { return !with_room_.empty(); }
  bool may_add_slab() const { return live_slabs_ < max_slabs_; }
  Status add_slab();
  // A page with one reference: of the lowest slab that has room, so that high slabs become empty. Needs
  // has_room().
  PageId allocate();
  void add_reference(PageId page);
  void release(PageId page);
  // The same for the one reference that the prefix tree may have.
  void cache(PageId page);
  void release_cached(PageId page);
  int references(PageId page) const;

  int held() const { return held_; }
  // Held by the prefix tree alone: they can be had back.
  int cached() const { return cached_; }
  int pages_per_slab() const { return pages_per_slab_; }
  int slabs() const { return live_slabs_; }
  int max_slabs() const { return max_slabs_; }
  // Pages of live slabs that have been in use at some time: their memory has been touched.
  int touched() const;

 private:
  struct Page {
    int references = 0;
    bool in_tree = false;
    bool only_cached() const { return in_tree && references == 1; }
  };
  struct Slab {
    bool live = false;
    int held = 0, touched = 0;
    std::vector<Page> pages;
  };
  Page& at(PageId page);
  const int group_, pages_per_slab_, max_slabs_;
  SlabSource& source_;
  std::vector<Slab> slabs_;
  std::set<int> with_room_;  // live slabs that have a free page
  int held_ = 0, cached_ = 0, live_slabs_ = 0;
};

}  // namespace tempo9::kv
