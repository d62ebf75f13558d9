// The heart of byte-pair encoding: which two neighbouring symbols join, in which order, into which token. As
// long as any neighbours can join, the pair of the lowest rank does, the leftmost of equals first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace tempo9::text {

class MergeTable {
 public:
  struct Merge {
    uint32_t rank;  // lower joins first
    TokenId token;  // what the pair becomes
  };

  // Room for `merges` entries; no more may be added.
  explicit MergeTable(size_t merges);
  // The first merge of a pair stays.
  void add(TokenId left, TokenId right, Merge merge);
  // Null if the two do not join.
  const Merge* find(TokenId left, TokenId right) const;

  // Joins `symbols` in place until nothing joins. O(n log n).
  void apply(std::vector<TokenId>& symbols) const;

 private:
  struct Slot {
    uint64_t pair;
    Merge merge;
  };
  size_t find_slot(uint64_t pair) const;
  void apply_to_few(std::vector<TokenId>& symbols) const;
  void apply_to_many(std::vector<TokenId>& symbols) const;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace tempo9::text
