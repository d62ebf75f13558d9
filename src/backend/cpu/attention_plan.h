// How one attention operation is cut into work.
#pragma once
#include <vector>

#include "backend/cpu/kernels.h"
#include "backend/host/host_kernels.h"

namespace tempo9::backend::cpu {

// A block is up to 64 query rows of one sequence and key/value head. A block that is a large part of the
// whole (one sequence with a long past) is cut further into splits, whose results are folded afterwards.
// Whether that happens does not change a bit. Keeps its memory from call to call.
class AttentionPlan {
 public:
  struct Block {
    AttentionTask task;
    int64_t products = 0;
    int first_split = 0, splits = 0;
    size_t partials = 0;  // where its partial results begin, in floats; if it is cut
  };
  static constexpr int kWhole = -1;
  struct Item {
    int block;
    int split;  // counted from the block's first, or kWhole
  };

  void make(const Attention& op, int threads);

  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<Item>& items() const { return items_; }
  const std::vector<int>& cut_blocks() const { return cut_blocks_; }
  size_t partial_floats() const { return partial_floats_; }
  int64_t products() const { return products_; }

 private:
  void resolve_pages(const Attention& op);
  void add_blocks(const Attention& op, int threads);
  void add_items(int block, int threads);

  std::vector<const std::byte*> pages_;
  std::vector<Block> blocks_;
  std::vector<Item> items_;
  std::vector<int> cut_blocks_;
  size_t partial_floats_ = 0;
  int64_t products_ = 0;
};

// Bytes of one head's keys and values in a page.
size_t kv_head_bytes(const KvShape& shape);

}  // namespace tempo9::backend::cpu
