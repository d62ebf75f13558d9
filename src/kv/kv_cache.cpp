#include "kv/kv_cache.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"
#include "base/limits.h"

namespace tempo9::kv {
namespace {

// Pages that a sequence of `tokens` tokens has in a group.
int pages_for(const Group& group, int tokens) {
  if (group.keeps == Keeps::kState) return tokens > 0 ? 1 : 0;
  return (tokens + limits::kPageTokens - 1) / limits::kPageTokens;
}

}  // namespace

KvCache::KvCache(const Layout& layout, const CacheOptions& options, SlabSource& source) : layout_(layout) {
  // Sequences hold as many pages in each group (a window holds fewer), so what states leave is shared out by
  // the bytes of a page.
  size_t page_bytes = 0, state_bytes = 0;
  for (const Group& group : layout.groups)
    (group.keeps == Keeps::kState ? state_bytes : page_bytes) += group.page_bytes;
  state_bytes *= static_cast<size_t>(options.max_states);
  const size_t left = options.memory_bytes > state_bytes ? options.memory_bytes - state_bytes : 0;
  const size_t pages = page_bytes == 0 ? 0 : std::min<size_t>(left / page_bytes, 1u << 24);
  for (size_t g = 0; g < layout.groups.size(); ++g) {
    const Group& group = layout.groups[g];
    const auto per_slab = static_cast<int>(std::max<size_t>(1, options.slab_bytes / group.page_bytes));
    const int most = group.keeps == Keeps::kState ? options.max_states : static_cast<int>(pages);
    pools_.push_back(std::make_unique<PagePool>(static_cast<int>(g), per_slab, most, source));
  }
}

Sequence KvCache::empty_sequence() const {
  return Sequence{std::vector<std::vector<PageId>>(pools_.size())};
}

Status KvCache::grow(Sequence& sequence, int tokens) {
  std::vector<size_t> before;
  for (const auto& table : sequence.tables) before.push_back(table.size());
  for (size_t g = 0; g < pools_.size(); ++g) {
    const auto wanted = static_cast<size_t>(pages_for(layout_.groups[g], tokens));
    while (sequence.tables[g].size() < wanted) {
      Result<PageId> page = pools_[g]->allocate();
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

bool KvCache::has_room(const Sequence& sequence, int tokens) const {
  for (size_t g = 0; g < pools_.size(); ++g)
    if (pages_for(layout_.groups[g], tokens) - static_cast<int>(sequence.tables[g].size()) >
        pools_[g]->free())
      return false;
  return true;
}

void KvCache::trim(Sequence& sequence, int next) {
  for (size_t g = 0; g < pools_.size(); ++g) {
    if (layout_.groups[g].keeps != Keeps::kWindow) continue;
    const int first_seen = next - layout_.groups[g].window + 1;
    for (int p = 0;
         (p + 1) * limits::kPageTokens <= first_seen && p < static_cast<int>(sequence.tables[g].size());
         ++p) {
      PageId& page = sequence.tables[g][static_cast<size_t>(p)];
      if (page != kNoPage) pools_[g]->release(page);
      page = kNoPage;
    }
  }
}

void KvCache::release(Sequence& sequence) {
  for (size_t g = 0; g < pools_.size(); ++g) {
    for (const PageId page : sequence.tables[g])
      if (page != kNoPage) pools_[g]->release(page);
    sequence.tables[g].clear();
  }
}

int KvCache::max_slabs(int group) const {
  const PagePool& pool = *pools_[static_cast<size_t>(group)];
  return (pool.max_pages() + pool.pages_per_slab() - 1) / pool.pages_per_slab();
}

int64_t KvCache::max_tokens() const {
  int64_t most = INT32_MAX;
  for (size_t g = 0; g < pools_.size(); ++g)
    if (layout_.groups[g].keeps != Keeps::kState)
      most = std::min(most, static_cast<int64_t>(pools_[g]->max_pages()) * limits::kPageTokens);
  return most;
}

int KvCache::pages_held() const {
  int sum = 0;
  for (const auto& pool : pools_) sum += pool->held();
  return sum;
}

int KvCache::pages_total() const {
  int sum = 0;
  for (const auto& pool : pools_) sum += pool->max_pages();
  return sum;
}

size_t KvCache::bytes_held() const {
  size_t sum = 0;
  for (size_t g = 0; g < pools_.size(); ++g)
    sum += static_cast<size_t>(pools_[g]->held()) * layout_.groups[g].page_bytes;
  return sum;
}

}  // namespace tempo9::kv
