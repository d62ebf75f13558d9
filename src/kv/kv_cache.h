// The facade over pages: sequences that grow token by token and give everything back. Knows what is where,
// moves no bytes. Threads: one at a time (the engine's).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kv/layout.h"
#include "kv/page_pool.h"

namespace tempo9::kv {

// One request's pages: a table per group, entry i for tokens 64 i .. 64 i + 63; kNoPage where a window has
// moved on.
// A kState group's table has one entry once there are tokens.
struct Sequence {
  std::vector<std::vector<PageId>> tables;
};

struct CacheOptions {
  size_t memory_bytes = 0;  // bound for all pages of all groups together
  size_t slab_bytes = 0;
  int max_states =
      0;  // sequences that may have a state at once, if there are kState layers; part of memory_bytes
};

class KvCache {
 public:
  KvCache(const Layout& layout, const CacheOptions& options, SlabSource& source);

  // Pages for positions before `tokens` exist afterwards; keeps what was there. kOutOfMemory leaves the
  // sequence as it was.
  Status grow(Sequence& sequence, int tokens);
  // Whether grow() to `tokens` would succeed now.
  bool has_room(const Sequence& sequence, int tokens) const;
  // Gives back the pages that no row at position `next` or later can see.
  void trim(Sequence& sequence, int next);
  void release(Sequence& sequence);

  Sequence empty_sequence() const;
  int pages_per_slab(int group) const { return pools_[static_cast<size_t>(group)]->pages_per_slab(); }
  int max_slabs(int group) const;
  int pages_held() const;
  int pages_total() const;
  size_t bytes_held() const;
  // Tokens that one sequence could have if it were alone.
  int64_t max_tokens() const;
  const Layout& layout() const { return layout_; }
  int groups() const { return static_cast<int>(pools_.size()); }

 private:
  Layout layout_;
  std::vector<std::unique_ptr<PagePool>> pools_;
};

}  // namespace tempo9::kv
