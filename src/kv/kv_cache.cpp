#include "kv/kv_cache.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"

namespace tempo9::kv {
namespace {

int pages_of(int tokens) {
  return (tokens + kPageTokens - 1) / kPageTokens;
}

// Entries in the table that a sequence of `tokens` tokens has in a group.
int entries_for(const Group& group, int tokens) {
  if (group.keeps == Keeps::kState) return tokens > 0 ? 1 : 0;
  return pages_of(tokens);
}

}  // namespace

KvCache::KvCache(const Layout& layout, const CacheOptions& options, SlabSource& source)
    : layout_(layout), options_(options) {
  for (size_t g = 0; g < layout.groups.size(); ++g) {
    const Group& group = layout.groups[g];
    const size_t per_slab = std::max<size_t>(1, options.slab_bytes / group.page_bytes);
    const size_t slabs = options.memory_bytes / (per_slab * group.page_bytes);
    // Page numbers are 32 bits wide.
    const auto most = static_cast<int>(std::min(slabs, INT32_MAX / per_slab));
    pools_.push_back(
        std::make_unique<PagePool>(static_cast<int>(g), static_cast<int>(per_slab), most, source));
    if (group.keeps == Keeps::kState) state_group_ = static_cast<int>(g);
  }
  tree_ = std::make_unique<PrefixTree>(layout_, pools_);
}

Sequence KvCache::empty_sequence() const {
  return Sequence{std::vector<std::vector<PageId>>(pools_.size())};
}

size_t KvCache::slab_bytes(size_t group) const {
  return static_cast<size_t>(pools_[group]->pages_per_slab()) * layout_.groups[group].page_bytes;
}

size_t KvCache::slab_bytes_held() const {
  size_t sum = 0;
  for (size_t g = 0; g < pools_.size(); ++g) sum += static_cast<size_t>(pools_[g]->slabs()) * slab_bytes(g);
  return sum;
}

// Pages of a window that one sequence has at once: what the first row of a step sees, and the step's rows.
int KvCache::most_window_pages(const Group& group) const {
  return pages_of(group.window + options_.step_tokens) + 1;
}

int64_t KvCache::max_tokens() const {
  const auto fits = [&](int64_t tokens) {
    size_t bytes = 0;
    for (size_t g = 0; g < pools_.size(); ++g) {
      const Group& group = layout_.groups[g];
      int pages = entries_for(group, static_cast<int>(tokens));
      if (group.keeps == Keeps::kWindow) pages = std::min(pages, most_window_pages(group));
      const int per_slab = pools_[g]->pages_per_slab(), slabs = (pages + per_slab - 1) / per_slab;
      if (slabs > pools_[g]->max_slabs()) return false;
      bytes += static_cast<size_t>(slabs) * slab_bytes(g);
    }
    return bytes <= options_.memory_bytes;
  };
  int64_t low = 0, high = INT32_MAX - kPageTokens;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

Result<PageId> KvCache::allocate(size_t group) {
  PagePool& pool = *pools_[group];
  while (!pool.has_room()) {
    if (pool.may_add_slab() && slab_bytes_held() + slab_bytes(group) <= options_.memory_bytes) {
      TRY(pool.add_slab());
    } else if (tree_->evict_one()) {
      ++evictions_;
    } else {
      return fail(ErrorCode::kOutOfMemory, "all {} bytes of KV memory are in use", options_.memory_bytes);
    }
  }
  return pool.allocate();
}

KvCache::Found KvCache::attach(Sequence& sequence, std::span<const TokenId> tokens, int most) {
  CHECK(sequence.node == nullptr && (sequence.tables.empty() || sequence.tables[0].empty()));
  const PrefixTree::Match match = tree_->match(tokens, most);
  if (match.tokens == 0) return {0, match.agreement};
  tree_->touch(match);
  if (attach_pages(sequence, match)) return {match.tokens, match.agreement};
  release(sequence);
  return {0, match.agreement};
}

// All references first, so that making room for the copies takes nothing away.
bool KvCache::attach_pages(Sequence& sequence, const PrefixTree::Match& match) {
  const int whole = match.tokens / kPageTokens;
  if (whole > 0) move_to(sequence, match.path[static_cast<size_t>(whole - 1)]);
  for (size_t g = 0; g < pools_.size(); ++g) {
    const Group& group = layout_.groups[g];
    if (group.keeps == Keeps::kState) continue;
    const int first =
        group.keeps == Keeps::kWindow ? std::max(0, match.tokens - group.window + 1) / kPageTokens : 0;
    for (int p = 0; p < whole; ++p) {
      const PageId page = p < first ? kNoPage : match.path[static_cast<size_t>(p)]->pages[g];
      if (page != kNoPage) pools_[g]->add_reference(page);
      sequence.tables[g].push_back(page);
    }
  }
  // The sources of the copies, held until the copies are made.
  const size_t before = copies_.size();
  const auto hold = [&](size_t g, PageId from) {
    pools_[g]->add_reference(from);
    copies_.push_back({static_cast<int>(g), from, kNoPage});
  };
  for (size_t g = 0; g < pools_.size(); ++g) {
    if (layout_.groups[g].keeps == Keeps::kState)
      hold(g, match.state);
    else if (match.tokens % kPageTokens != 0)
      hold(g, match.path.back()->pages[g]);
  }
  for (size_t i = before; i < copies_.size(); ++i) {
    Result<PageId> page = allocate(static_cast<size_t>(copies_[i].group));
    if (!page) {
      for (size_t rest = i; rest < copies_.size(); ++rest)
        pools_[static_cast<size_t>(copies_[rest].group)]->release(copies_[rest].from);
      copies_.resize(i);
      return false;
    }
    copies_[i].to = *page;
    sequence.tables[static_cast<size_t>(copies_[i].group)].push_back(*page);
  }
  return true;
}

void KvCache::copied(size_t count) {
  const auto end = copies_.begin() + static_cast<ptrdiff_t>(count);
  for (auto copy = copies_.begin(); copy != end; ++copy)
    pools_[static_cast<size_t>(copy->group)]->release(copy->from);
  copies_.erase(copies_.begin(), end);
}

void KvCache::move_to(Sequence& sequence, PrefixNode* node) {
  if (node != nullptr) tree_->lock(*node);
  if (sequence.node != nullptr) tree_->unlock(*sequence.node);
  sequence.node = node;
}

Status KvCache::grow(Sequence& sequence, int tokens) {
  std::vector<size_t> before;
  for (const auto& table : sequence.tables) before.push_back(table.size());
  for (size_t g = 0; g < pools_.size(); ++g) {
    const auto wanted = static_cast<size_t>(entries_for(layout_.groups[g], tokens));
    while (sequence.tables[g].size() < wanted) {
      Result<PageId> page = allocate(g);
      if (!page) {
        for (size_t u = 0; u <= g; ++u)
          for (; sequence.tables[u].size() > before[u]; sequence.tables[u].pop_back())
            pools_[u]->release(sequence.tables[u].back());
        return tl::unexpected<Error>(std::move(page).error());
      }
      sequence.tables[g].push_back(*page);
    }
  }
  return {};
}

void KvCache::trim(Sequence& sequence, int next) {
  for (size_t g = 0; g < pools_.size(); ++g) {
    if (layout_.groups[g].keeps != Keeps::kWindow) continue;
    const int first_seen = std::max(0, next - layout_.groups[g].window + 1);
    auto& table = sequence.tables[g];
    for (int p = std::min(first_seen / kPageTokens, static_cast<int>(table.size())) - 1; p >= 0; --p) {
      PageId& page = table[static_cast<size_t>(p)];
      if (page == kNoPage) break;  // and all before it
      pools_[g]->release(page);
      page = kNoPage;
    }
  }
}

void KvCache::release(Sequence& sequence) {
  for (size_t g = 0; g < pools_.size(); ++g) {
    for (const PageId page : sequence.tables[g]) {
      if (page == kNoPage) continue;
      std::erase_if(copies_, [&](const PageCopy& copy) {
        const bool pointless = copy.group == static_cast<int>(g) && copy.to == page;
        if (pointless) pools_[g]->release(copy.from);
        return pointless;
      });
      pools_[g]->release(page);
    }
    sequence.tables[g].clear();
  }
  move_to(sequence, nullptr);
}

void KvCache::publish(Sequence& sequence, std::span<const TokenId> tokens, int computed, bool with_tail) {
  const auto published = [&] { return sequence.node == nullptr ? 0 : sequence.node->end(); };
  while (published() + kPageTokens <= computed)
    move_to(sequence, publish_tail(sequence, tokens, published() + kPageTokens));
  if (with_tail && published() < computed) publish_tail(sequence, tokens, computed);
}

// The tokens after sequence.node up to `end`, a page's at most.
PrefixNode* KvCache::publish_tail(Sequence& sequence, std::span<const TokenId> tokens, int end) {
  PrefixNode& parent = sequence.node == nullptr ? *tree_->root() : *sequence.node;
  const auto p = static_cast<size_t>(parent.end() / kPageTokens);
  std::vector<PageId> pages(pools_.size(), kNoPage);
  for (size_t g = 0; g < pools_.size(); ++g)
    if (layout_.groups[g].keeps != Keeps::kState) pages[g] = sequence.tables[g][p];
  PrefixNode* node = tree_->insert(
      parent, tokens.subspan(static_cast<size_t>(parent.end()), static_cast<size_t>(end - parent.end())),
      pages);
  for (size_t g = 0; g < pools_.size(); ++g)
    if (layout_.groups[g].keeps != Keeps::kState) sequence.tables[g][p] = pages[g];
  return node;
}

// Whether some of its pages are yet to get their content.
bool KvCache::awaits_copies(const Sequence& sequence) const {
  return std::any_of(copies_.begin(), copies_.end(), [&](const PageCopy& copy) {
    const auto& table = sequence.tables[static_cast<size_t>(copy.group)];
    return !table.empty() && table.back() == copy.to;
  });
}

void KvCache::retire(Sequence& sequence, std::span<const TokenId> tokens, int computed) {
  if (awaits_copies(sequence) || computed == 0) return release(sequence);
  publish(sequence, tokens, computed, true);
  if (has_states()) {
    auto& table = sequence.tables[static_cast<size_t>(state_group_)];
    const PageId slot = table.front();
    table.clear();
    place_snapshot(sequence, tokens, computed, slot);
    bound_snapshots(0);
  }
  release(sequence);
}

// Makes room for `more` snapshots within their share. False: the share is too small for that.
bool KvCache::bound_snapshots(int more) {
  const size_t bytes = layout_.groups[static_cast<size_t>(state_group_)].page_bytes;
  const auto most = static_cast<size_t>(options_.snapshot_share * static_cast<double>(options_.memory_bytes));
  while (static_cast<size_t>(tree_->snapshots() + reserved_snapshots_ + more) * bytes > most) {
    if (!tree_->evict_snapshot()) return false;
    ++evictions_;
  }
  return true;
}

PageId KvCache::reserve_snapshot() {
  if (!has_states() || !bound_snapshots(1)) return kNoPage;
  const Result<PageId> slot = allocate(static_cast<size_t>(state_group_));
  if (!slot) return kNoPage;
  ++reserved_snapshots_;
  return *slot;
}

void KvCache::publish_snapshot(Sequence& sequence, std::span<const TokenId> tokens, int position,
                               PageId slot) {
  --reserved_snapshots_;
  place_snapshot(sequence, tokens, position, slot);
}

void KvCache::place_snapshot(Sequence& sequence, std::span<const TokenId> tokens, int position, PageId slot) {
  PrefixNode* holder = sequence.node == nullptr ? tree_->root() : sequence.node;
  while (holder->first >= position && holder->parent != nullptr) holder = holder->parent;
  if (holder->end() < position) holder = publish_tail(sequence, tokens, position);
  if (tree_->has_snapshot(*holder, position))
    pools_[static_cast<size_t>(state_group_)]->release(slot);
  else
    tree_->add_snapshot(*holder, position, slot);
}

void KvCache::release_snapshot(PageId slot) {
  --reserved_snapshots_;
  pools_[static_cast<size_t>(state_group_)]->release(slot);
}

void KvCache::drop_cached() {
  while (tree_->evict_one()) ++evictions_;
}

size_t KvCache::bytes_missing(const Sequence& sequence, int tokens) const {
  size_t bytes = 0;
  for (size_t g = 0; g < pools_.size(); ++g) {
    const Group& group = layout_.groups[g];
    int missing = entries_for(group, tokens) - static_cast<int>(sequence.tables[g].size());
    if (group.keeps == Keeps::kWindow) missing = std::min(missing, most_window_pages(group));
    bytes += static_cast<size_t>(std::max(0, missing)) * group.page_bytes;
  }
  return bytes;
}

size_t KvCache::bytes_available() const {
  size_t used = 0;
  for (size_t g = 0; g < pools_.size(); ++g)
    used += static_cast<size_t>(pools_[g]->held() - pools_[g]->cached()) * layout_.groups[g].page_bytes;
  return options_.memory_bytes - std::min(options_.memory_bytes, used);
}

CacheCounts KvCache::counts() const {
  CacheCounts c;
  for (size_t g = 0; g < pools_.size(); ++g) {
    const PagePool& pool = *pools_[g];
    const size_t bytes = layout_.groups[g].page_bytes;
    const int used = pool.held() - pool.cached(), free = pool.slabs() * pool.pages_per_slab() - pool.held();
    c.pages_used += used, c.pages_cached += pool.cached(), c.pages_free += free;
    c.bytes_used += static_cast<size_t>(used) * bytes;
    c.bytes_cached += static_cast<size_t>(pool.cached()) * bytes;
    c.bytes_free += static_cast<size_t>(free) * bytes;
    c.bytes_touched += static_cast<size_t>(pool.touched()) * bytes;
  }
  c.snapshots = tree_->snapshots();
  if (has_states())
    c.bytes_snapshots =
        static_cast<size_t>(c.snapshots) * layout_.groups[static_cast<size_t>(state_group_)].page_bytes;
  c.evictions = evictions_;
  return c;
}

}  // namespace tempo9::kv
