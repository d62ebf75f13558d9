// Finds special tokens that are written out in a text. Where several begin at one place the longest wins, and
// the leftmost before that. Some take the white space behind them with them (Vocabulary::swallows_space).
// Threads: immutable.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "text/token_index.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace tempo9::text {

// The control, unknown and user-defined tokens of a vocabulary as a tree of their bytes.
class SpecialTokenTree {
 public:
  explicit SpecialTokenTree(const Vocabulary& vocabulary);

  struct Entry {
    TokenId token = kNoToken;  // none: only a beginning of one
    bool control = false;
    bool swallows_space = false;
  };
  static constexpr uint32_t kRoot = 0, kNone = UINT32_MAX;
  // The node under `node` that `byte` leads to; kNone if there is none.
  uint32_t step(uint32_t node, uint8_t byte) const {
    return node == kRoot ? from_root_[byte] : find_edge(node, byte);
  }
  const Entry& entry(uint32_t node) const { return nodes_[node].entry; }

 private:
  struct Edge {
    uint8_t byte;
    uint32_t node;
  };
  struct Node {
    uint32_t first_edge = 0, edge_count = 0;
    Entry entry;
  };
  struct Name {
    std::string_view text;
    Entry entry;
  };
  uint32_t find_edge(uint32_t node, uint8_t byte) const;
  void grow(uint32_t node, const std::vector<Name>& names, size_t begin, size_t end, size_t depth);
  std::array<uint32_t, 256> from_root_;  // step(kRoot, byte): asked for every byte of every text
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;  // a node's lie together, by byte
};

// One walk over one text. Steps for each byte of the text at most as often as the longest special token is
// long.
class SpecialTokenScan {
 public:
  SpecialTokenScan(const SpecialTokenTree& tree, std::string_view text, const SpecialTokens& rules)
      : tree_(&tree), text_(text), rules_(&rules) {}

  struct Hit {
    size_t begin, end;  // of the text, swallowed space included
    TokenId token;
  };
  // The next special token at or behind `from`, which never decreases.
  std::optional<Hit> next(size_t from);

 private:
  std::optional<Hit> match_at(size_t begin) const;
  bool allows_control(size_t begin, size_t end) const;
  const SpecialTokenTree* tree_;
  std::string_view text_;
  const SpecialTokens* rules_;
  size_t content_ = 0;  // the first range of rules_->content that ends behind where the walk is
};

}  // namespace tempo9::text
