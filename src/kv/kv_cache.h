// The facade over pages: sequences that grow token by token, begin with what earlier ones have computed, and
// leave behind what they have. All groups together stay within one bound of memory; when it is reached, what
// nobody uses goes first, least recently used before the rest. Knows what is where, moves no bytes: whoever
// runs steps carries out copies() with the next one. Threads: one at a time (the engine's).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/types.h"
#include "kv/layout.h"
#include "kv/page_pool.h"
#include "kv/prefix_tree.h"

namespace tempo9::kv {

// One request's pages: a table per group, entry i for tokens 64 i .. 64 i + 63; kNoPage where a window has
// moved on.
// A kState group's table has one entry once there are tokens.
struct Sequence {
  std::vector<std::vector<PageId>> tables;
  PrefixNode* node = nullptr;  // of the last page that is in the tree; null: none
};

struct CacheOptions {
  size_t memory_bytes = 0;  // bound for all slabs of all groups together
  size_t slab_bytes = 0;
  int step_tokens = 512;        // of one sequence in one step at most
  double snapshot_share = 0.5;  // of memory_bytes that snapshots of states may take
};

// Page `to` must become a copy of page `from` before a step uses it.
struct PageCopy {
  int group;
  PageId from, to;
};

struct CacheCounts {
  int pages_used = 0;    // by sequences, alone or together with the tree
  int pages_cached = 0;  // by the tree alone
  int pages_free = 0;    // in slabs
  int snapshots = 0;
  size_t bytes_used = 0, bytes_cached = 0, bytes_free = 0;
  size_t bytes_snapshots = 0;  // part of bytes_cached
  size_t bytes_touched = 0;    // of slabs: what the system has given so far
  uint64_t evictions = 0;
};

class KvCache {
 public:
  KvCache(const Layout& layout, const CacheOptions& options, SlabSource& source);

  Sequence empty_sequence() const;
  // How many tokens a sequence may have if it is alone.
  int64_t max_tokens() const;

  // Gives an empty sequence what is cached of `tokens`, `most` tokens of them at most. Where the sequence has
  // to write into a page or state of somebody else's, it gets a copy.
  struct Found {
    int tokens = 0;     // need not be computed
    int agreement = 0;  // stand in the tree; more than `tokens` if a state in between is missing
  };
  Found attach(Sequence& sequence, std::span<const TokenId> tokens, int most);
  // Of `tokens`, how many stand in the tree.
  int agreement(std::span<const TokenId> tokens) { return tree_->match(tokens, 0).agreement; }

  // Pages for positions before `tokens` exist afterwards; keeps what was there. kOutOfMemory leaves the
  // sequence as it was.
  Status grow(Sequence& sequence, int tokens);
  // Gives back the pages that no row at position `next` or later can see.
  void trim(Sequence& sequence, int next);
  void release(Sequence& sequence);

  // After a step: the whole pages among the first `computed` tokens may be used by others from now on;
  // `with_tail`: the tokens after them too.
  void publish(Sequence& sequence, std::span<const TokenId> tokens, int computed, bool with_tail = false);
  // Ends a sequence: everything it has computed, its state included, may be used by others.
  void retire(Sequence& sequence, std::span<const TokenId> tokens, int computed);

  // A place for a state; kNoPage if there is none to spare or this layout has no states. Give it to
  // publish_snapshot() once it holds the state after the first `position` tokens, or to release_snapshot().
  PageId reserve_snapshot();
  void publish_snapshot(Sequence& sequence, std::span<const TokenId> tokens, int position, PageId slot);
  void release_snapshot(PageId slot);
  bool has_states() const { return state_group_ >= 0; }

  // What attach() has asked for and nobody has done yet, oldest first.
  const std::vector<PageCopy>& copies() const { return copies_; }
  // The first `count` of them are done.
  void copied(size_t count);

  // Forgets everything that no sequence uses.
  void drop_cached();

  // Bytes that a sequence lacks for `tokens` tokens, and bytes that are not in use by sequences.
  size_t bytes_missing(const Sequence& sequence, int tokens) const;
  size_t bytes_available() const;

  int groups() const { return static_cast<int>(pools_.size()); }
  int pages_per_slab(int group) const { return pools_[static_cast<size_t>(group)]->pages_per_slab(); }
  int max_slabs(int group) const { return pools_[static_cast<size_t>(group)]->max_slabs(); }
  const Layout& layout() const { return layout_; }
  CacheCounts counts() const;

 private:
  size_t slab_bytes(size_t group) const;
  size_t slab_bytes_held() const;
  Result<PageId> allocate(size_t group);
  bool awaits_copies(const Sequence& sequence) const;
  bool attach_pages(Sequence& sequence, const PrefixTree::Match& match);
  bool attach_copy(std::vector<PageId>& table, size_t group, PageId from);
  void move_to(Sequence& sequence, PrefixNode* node);
  PrefixNode* publish_tail(Sequence& sequence, std::span<const TokenId> tokens, int end);
  void place_snapshot(Sequence& sequence, std::span<const TokenId> tokens, int position, PageId slot);
  bool bound_snapshots(int more);
  int most_window_pages(const Group& group) const;

  Layout layout_;
  CacheOptions options_;
  int state_group_ = -1;
  int reserved_snapshots_ = 0;
  PrefixTree::Pools pools_;
  std::unique_ptr<PrefixTree> tree_;  // after the pools whose pages it holds
  std::vector<PageCopy> copies_;      // each holds a reference of `from`
  uint64_t evictions_ = 0;
};

}  // namespace tempo9::kv
