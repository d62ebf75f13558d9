#include "text/merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <queue>

namespace tempo9::text {
namespace {

constexpr uint64_t kFree = std::numeric_limits<uint64_t>::max();  // no pair: ids are not negative
constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();
constexpr size_t kFew = 32;  // up to here scanning beats a heap

uint64_t make_pair_key(TokenId left, TokenId right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(size_t merges) : slots_(std::bit_ceil(2 * merges + 2), Slot{kFree, {}}) {}

void MergeTable::add(TokenId left, TokenId right, Merge merge) {
  const uint64_t pair = make_pair_key(left, right);
  Slot& slot = slots_[find_slot(pair)];
  if (slot.pair == kFree) slot = {pair, merge};
}

const MergeTable::Merge* MergeTable::find(TokenId left, TokenId right) const {
  const Slot& slot = slots_[find_slot(make_pair_key(left, right))];
  return slot.pair == kFree ? nullptr : &slot.merge;
}

size_t MergeTable::find_slot(uint64_t pair) const {
  const size_t mask = slots_.size() - 1;
  uint64_t hash = pair * 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: spreads neighbouring ids
  hash ^= hash >> 32;
  size_t at = hash & mask;
  while (slots_[at].pair != kFree && slots_[at].pair != pair) at = (at + 1) & mask;
  return at;
}

void MergeTable::apply(std::vector<TokenId>& symbols) const {
  if (symbols.size() < 2) return;
  if (symbols.size() <= kFew) {
    apply_to_few(symbols);
  } else {
    apply_to_many(symbols);
  }
}

void MergeTable::apply_to_few(std::vector<TokenId>& symbols) const {
  std::array<Merge, kFew> joins;  // joins[i]: of symbols i and i + 1
  size_t pairs = symbols.size() - 1;
  const auto look_up = [&](size_t i) {
    const Merge* merge = find(symbols[i], symbols[i + 1]);
    joins[i] = merge == nullptr ? Merge{kNever, 0} : *merge;
  };
  for (size_t i = 0; i < pairs; ++i) look_up(i);
  while (pairs > 0) {
    const auto best = std::min_element(joins.begin(), joins.begin() + static_cast<ptrdiff_t>(pairs),
                                       [](const Merge& a, const Merge& b) { return a.rank < b.rank; });
    if (best->rank == kNever) break;
    const auto at = static_cast<size_t>(best - joins.begin());
    symbols[at] = best->token;
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(at) + 1);
    std::copy(best + 1, joins.begin() + static_cast<ptrdiff_t>(pairs), best);
    --pairs;
    if (at > 0) look_up(at - 1);
    if (at < pairs) look_up(at);
  }
}

void MergeTable::apply_to_many(std::vector<TokenId>& symbols) const {
  constexpr TokenId kGone = -1;  // joined to the symbol on its left
  const auto count = static_cast<uint32_t>(symbols.size());
  std::vector<uint32_t> next(count), previous(count);
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;  // wraps for the first, which is never asked
  }

  // A symbol that could join the one on its right, as rank and position in one number: the least goes first.
  // An entry is out of date when the two have another rank by now.
  std::vector<uint64_t> first_candidates;
  for (uint32_t i = 0; i + 1 < count; ++i)
    if (const Merge* merge = find(symbols[i], symbols[i + 1]); merge != nullptr)
      first_candidates.push_back(uint64_t{merge->rank} << 32 | i);
  std::priority_queue queue(std::greater<uint64_t>(), std::move(first_candidates));
  const auto consider = [&](uint32_t at) {
    if (const Merge* merge = find(symbols[at], symbols[next[at]]); merge != nullptr)
      queue.push(uint64_t{merge->rank} << 32 | at);
  };

  while (!queue.empty()) {
    const uint64_t best = queue.top();
    queue.pop();
    const auto at = static_cast<uint32_t>(best);
    if (symbols[at] == kGone || next[at] == count) continue;
    const Merge* merge = find(symbols[at], symbols[next[at]]);
    if (merge == nullptr || merge->rank != best >> 32) continue;
    symbols[at] = merge->token;
    symbols[next[at]] = kGone;
    next[at] = next[next[at]];
    if (next[at] < count) previous[next[at]] = at;
    if (at > 0) consider(previous[at]);
    if (next[at] < count) consider(at);
  }
  std::erase(symbols, kGone);
}

}  // namespace tempo9::text
