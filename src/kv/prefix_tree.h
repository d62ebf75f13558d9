// Which pages hold which tokens: a radix tree over token ids whose nodes are pages. What a finished or
// running sequence has computed is found here by the next one that begins alike. A node belongs to one page
// of each group; a layer with a state continues only from a snapshot, a copy of the state at one position.
// Least recently used parts go first. Knows what is where, moves no bytes. Threads: one at a time (the
// engine's).
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/limits.h"
#include "base/types.h"
#include "kv/layout.h"
#include "kv/page_pool.h"

namespace tempo9::kv {

inline constexpr int kPageTokens = limits::kPageTokens;

struct Snapshot {
  int position = 0;  // tokens before it
  PageId slot = kNoPage;
  uint64_t used = 0;
};

struct PrefixNode {
  PrefixNode* parent = nullptr;
  int first = 0;                // position of the first token; a multiple of a page's tokens
  std::vector<TokenId> tokens;  // a page's; fewer only without children
  std::vector<PageId> pages;    // per group; kNoPage where there is none, as for states
  std::vector<Snapshot> snapshots;
  std::vector<std::unique_ptr<PrefixNode>> children;
  int locks = 0;  // sequences that end here or continue from here; then it stays
  uint64_t used = 0, window_used = 0;

  int end() const { return first + static_cast<int>(tokens.size()); }
};

class PrefixTree {
 public:
  using Pools = std::vector<std::unique_ptr<PagePool>>;
  // Both must outlive the tree, which holds one reference of each page it names.
  PrefixTree(const Layout& layout, Pools& pools);
  ~PrefixTree();

  struct Match {
    int tokens = 0;     // the longest point from which every group can continue
    int agreement = 0;  // tokens that stand in the tree, whether or not all groups can continue there
    std::vector<PrefixNode*> path;  // the nodes of `tokens`; the last may be needed only in part
    PageId state = kNoPage;         // the snapshot at `tokens`, if there are states
  };
  // At most `most` tokens are matched.
  Match match(std::span<const TokenId> tokens, int most);
  // Everything that the match uses becomes the most recently used.
  void touch(const Match& match);

  PrefixNode* root() { return &root_; }
  // The node under `parent` that holds these tokens (a page's, or fewer at the end of a sequence). Takes a
  // reference of each page. If a whole page is there already, `pages` becomes what is there: the bits are
  // equal, and the sequence gives its own back.
  PrefixNode* insert(PrefixNode& parent, std::span<const TokenId> tokens, std::vector<PageId>& pages);
  bool has_snapshot(const PrefixNode& node, int position) const;
  // Takes over the reference of `slot`.
  void add_snapshot(PrefixNode& node, int position, PageId slot);
  void lock(PrefixNode& node);
  void unlock(PrefixNode& node);

  // Gives up what was used least recently; false if nothing is left that may go.
  bool evict_one();
  bool evict_snapshot();

  int nodes() const { return nodes_; }
  int snapshots() const { return static_cast<int>(snapshot_order_.size()); }

 private:
  using Order = std::map<uint64_t, PrefixNode*>;  // by last use, which is unique
  // A snapshot that a match may use, and the node that has it: perhaps one beside the path that agrees with
  // it as far as the snapshot reaches.
  struct Resumption {
    int position;
    PageId slot;
    PrefixNode* node;
  };
  void find_longest_point(Match& match, const std::vector<Resumption>& resumptions, int bound) const;
  std::optional<int> missing_window_page(const std::vector<PrefixNode*>& path, int point) const;
  void touch_node(PrefixNode& node);
  void touch_window(PrefixNode& node);
  void place(PrefixNode& node);
  void take(PrefixNode& node, size_t group, PageId page);
  void drop_pages(PrefixNode& node, bool windows_only);
  void drop_snapshot(PrefixNode& node, uint64_t used);
  void remove(PrefixNode& node);

  const Layout& layout_;
  Pools& pools_;
  std::optional<size_t> state_group_;
  bool has_windows_ = false;
  PrefixNode root_;
  uint64_t clock_ = 0;
  Order leaf_order_, window_order_, snapshot_order_;
  int nodes_ = 0;
};

}  // namespace tempo9::kv
