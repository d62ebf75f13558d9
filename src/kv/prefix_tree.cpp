#include "kv/prefix_tree.h"

#include <algorithm>

#include "base/check.h"

namespace tempo9::kv {
namespace {

int common_length(std::span<const TokenId> a, std::span<const TokenId> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<int>(std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first -
                          a.begin());
}

}  // namespace

PrefixTree::PrefixTree(const Layout& layout, Pools& pools) : layout_(layout), pools_(pools) {
  for (size_t g = 0; g < layout.groups.size(); ++g) {
    if (layout.groups[g].keeps == Keeps::kState) state_group_ = g;
    if (layout.groups[g].keeps == Keeps::kWindow) has_windows_ = true;
  }
}

PrefixTree::~PrefixTree() {
  while (evict_one()) {
  }
}

PrefixTree::Match PrefixTree::match(std::span<const TokenId> tokens, int most) {
  Match match;
  std::vector<Resumption> resumptions;  // positions do not descend from one page to the next
  PrefixNode* at = &root_;
  for (bool whole = true; whole;) {
    PrefixNode* best = nullptr;
    int common = 0;
    for (const auto& child : at->children) {
      const int n = common_length(child->tokens, tokens.subspan(static_cast<size_t>(match.agreement)));
      for (const Snapshot& snapshot : child->snapshots)
        if (snapshot.position <= child->first + n)
          resumptions.push_back({snapshot.position, snapshot.slot, child.get()});
      if (n > common) best = child.get(), common = n;
    }
    if (best != nullptr) match.path.push_back(best);
    match.agreement += common;
    whole = common == kPageTokens;
    at = best;
  }
  find_longest_point(match, resumptions, std::min(match.agreement, most));
  return match;
}

// The longest point up to `bound` from which every group can continue.
void PrefixTree::find_longest_point(Match& match, const std::vector<Resumption>& resumptions,
                                    int bound) const {
  while (bound > 0) {
    int point = bound;
    if (state_group_) {
      const Resumption* best = nullptr;
      for (const Resumption& r : resumptions)
        if (r.position <= bound && (best == nullptr || r.position > best->position)) best = &r;
      if (best == nullptr) break;
      point = best->position;
      match.state = best->slot;
      match.path[static_cast<size_t>((point - 1) / kPageTokens)] = best->node;
    }
    match.path.resize(static_cast<size_t>((point + kPageTokens - 1) / kPageTokens));
    const std::optional<int> missing = missing_window_page(match.path, point);
    if (!missing) {
      match.tokens = point;
      return;
    }
    bound = *missing * kPageTokens;
  }
  match.path.clear();
  match.state = kNoPage;
}

// The last page that a row at `point` would look into and that is gone.
std::optional<int> PrefixTree::missing_window_page(const std::vector<PrefixNode*>& path, int point) const {
  std::optional<int> missing;
  for (size_t g = 0; g < layout_.groups.size(); ++g) {
    if (layout_.groups[g].keeps != Keeps::kWindow) continue;
    const int first = std::max(0, point - layout_.groups[g].window + 1) / kPageTokens;
    for (int p = (point - 1) / kPageTokens; p >= first && p > missing.value_or(-1); --p)
      if (path[static_cast<size_t>(p)]->pages[g] == kNoPage) missing = p;
  }
  return missing;
}

void PrefixTree::touch(const Match& match) {
  int longest_window = 0;
  for (const Group& group : layout_.groups) longest_window = std::max(longest_window, group.window);
  for (PrefixNode* node : match.path) {
    touch_node(*node);
    if (node->end() > match.tokens - longest_window) touch_window(*node);
    for (Snapshot& snapshot : node->snapshots) {
      if (snapshot.position != match.tokens) continue;
      snapshot_order_.erase(snapshot.used);
      snapshot.used = ++clock_;
      snapshot_order_.emplace(snapshot.used, node);
    }
  }
}

void PrefixTree::touch_node(PrefixNode& node) {
  leaf_order_.erase(node.used);
  node.used = ++clock_;
  place(node);
}

void PrefixTree::touch_window(PrefixNode& node) {
  if (!has_windows_) return;
  window_order_.erase(node.window_used);
  node.window_used = ++clock_;
  window_order_.emplace(node.window_used, &node);
}

// Puts a node among those that may go, or takes it from them.
void PrefixTree::place(PrefixNode& node) {
  if (&node == &root_) return;
  if (node.children.empty() && node.locks == 0)
    leaf_order_.emplace(node.used, &node);
  else
    leaf_order_.erase(node.used);
}

void PrefixTree::take(PrefixNode& node, size_t group, PageId page) {
  if (node.pages[group] == page || page == kNoPage) return;
  if (node.pages[group] != kNoPage) pools_[group]->release_cached(node.pages[group]);
  pools_[group]->cache(page);
  node.pages[group] = page;
}

PrefixNode* PrefixTree::insert(PrefixNode& parent, std::span<const TokenId> tokens,
                               std::vector<PageId>& pages) {
  CHECK(!tokens.empty() && tokens.size() <= kPageTokens);
  PrefixNode* node = nullptr;
  for (const auto& child : parent.children) {
    const auto common = static_cast<size_t>(common_length(child->tokens, tokens));
    if (common < std::min(child->tokens.size(), tokens.size())) continue;
    node = child.get();
    if (common == tokens.size()) break;  // here already; a shorter one may be made longer instead
  }
  if (node == nullptr) {
    parent.children.push_back(std::make_unique<PrefixNode>());
    node = parent.children.back().get();
    node->parent = &parent;
    node->first = parent.end();
    node->pages.assign(pools_.size(), kNoPage);
    ++nodes_;
    place(parent);
  }
  const bool longer = tokens.size() > node->tokens.size();
  if (longer) node->tokens.assign(tokens.begin(), tokens.end());
  for (size_t g = 0; g < pages.size(); ++g) {
    if (pages[g] == kNoPage || pages[g] == node->pages[g]) continue;
    if (longer || (node->pages[g] == kNoPage && node->tokens.size() == tokens.size())) {
      take(*node, g, pages[g]);
    } else if (tokens.size() == kPageTokens) {
      pools_[g]->add_reference(node->pages[g]);
      pools_[g]->release(pages[g]);
      pages[g] = node->pages[g];
    }
  }
  touch_node(*node);
  touch_window(*node);
  return node;
}

bool PrefixTree::has_snapshot(const PrefixNode& node, int position) const {
  return std::any_of(node.snapshots.begin(), node.snapshots.end(),
                     [&](const Snapshot& s) { return s.position == position; });
}

void PrefixTree::add_snapshot(PrefixNode& node, int position, PageId slot) {
  CHECK(state_group_ && position > node.first && position <= node.end() && !has_snapshot(node, position));
  pools_[*state_group_]->cache(slot);
  pools_[*state_group_]->release(slot);
  node.snapshots.push_back({position, slot, ++clock_});
  snapshot_order_.emplace(clock_, &node);
}

void PrefixTree::lock(PrefixNode& node) {
  ++node.locks;
  place(node);
}

void PrefixTree::unlock(PrefixNode& node) {
  CHECK(node.locks > 0);
  --node.locks;
  place(node);
}

bool PrefixTree::evict_one() {
  const auto oldest = [](const Order& order) { return order.empty() ? UINT64_MAX : order.begin()->first; };
  const uint64_t leaf = oldest(leaf_order_), window = oldest(window_order_),
                 snapshot = oldest(snapshot_order_);
  const uint64_t first = std::min({leaf, window, snapshot});
  if (first == UINT64_MAX) return false;
  if (first == snapshot) return evict_snapshot();
  if (first == window)
    drop_pages(*window_order_.begin()->second, true);
  else
    remove(*leaf_order_.begin()->second);
  return true;
}

bool PrefixTree::evict_snapshot() {
  if (snapshot_order_.empty()) return false;
  const auto [used, node] = *snapshot_order_.begin();
  drop_snapshot(*node, used);
  return true;
}

void PrefixTree::drop_snapshot(PrefixNode& node, uint64_t used) {
  const auto found = std::find_if(node.snapshots.begin(), node.snapshots.end(),
                                  [&](const Snapshot& s) { return s.used == used; });
  CHECK(found != node.snapshots.end());
  pools_[*state_group_]->release_cached(found->slot);
  node.snapshots.erase(found);
  snapshot_order_.erase(used);
}

void PrefixTree::drop_pages(PrefixNode& node, bool windows_only) {
  for (size_t g = 0; g < pools_.size(); ++g) {
    if (node.pages[g] == kNoPage || (windows_only && layout_.groups[g].keeps != Keeps::kWindow)) continue;
    pools_[g]->release_cached(node.pages[g]);
    node.pages[g] = kNoPage;
  }
  window_order_.erase(node.window_used);
}

void PrefixTree::remove(PrefixNode& node) {
  CHECK(node.children.empty() && node.locks == 0);
  while (!node.snapshots.empty()) drop_snapshot(node, node.snapshots.back().used);
  drop_pages(node, false);
  leaf_order_.erase(node.used);
  PrefixNode& parent = *node.parent;
  std::erase_if(parent.children, [&](const auto& child) { return child.get() == &node; });
  --nodes_;
  place(parent);
}

}  // namespace tempo9::kv
