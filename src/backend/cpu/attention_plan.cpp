#include "backend/cpu/attention_plan.h"

#include <algorithm>

#include "base/limits.h"

namespace tempo9::backend::cpu {
namespace {

static_assert(kPageTokens == limits::kPageTokens);

// Memory for partial results; blocks beyond it are not cut.
constexpr size_t kMostPartialFloats = 8 << 20;
constexpr int kBlocksPerThread = 4;
// The rows of the widest tile: a block of fewer reads each key for fewer rows than it could.
constexpr int kTileRows = 8;

// Pages that the rows of a segment see, from the sequence's start.
int pages_of(const SegmentRow& seg) {
  return seg.rows == 0 ? 0 : (seg.first_position + seg.rows - 1) / kPageTokens + 1;
}

AttentionPlan::Block make_block(const AttentionTask& task) {
  const int first_position = task.first_position + task.first / task.group;
  const int last_position = task.first_position + (task.first + task.rows - 1) / task.group;
  const int first_seen = task.window > 0 ? std::max(0, first_position - task.window + 1) : 0;
  const int first_split = first_seen / kSplitTokens;
  return {
      .task = task,
      .products = static_cast<int64_t>(last_position + 1 - first_seen) * task.rows *
                  (task.head.key_size + task.head.value_size),
      .first_split = first_split,
      .splits = last_position / kSplitTokens + 1 - first_split,
  };
}

}  // namespace

size_t kv_head_bytes(const KvShape& shape) {
  const auto bytes = [&](int size) {  // of one token
    if (shape.type == KvType::kQ8_0) return size + 2 * ((size + kBlockColumns - 1) / kBlockColumns);
    return size * (shape.type == KvType::kF32 ? 4 : 2);
  };
  return static_cast<size_t>(kPageTokens * (bytes(shape.key_size) + bytes(shape.value_size)));
}

void AttentionPlan::make(const Attention& op, int threads) {
  pages_.clear();
  blocks_.clear();
  items_.clear();
  cut_blocks_.clear();
  partial_floats_ = 0;
  products_ = 0;
  resolve_pages(op);
  add_blocks(op, threads);
  for (const Block& block : blocks_) products_ += block.products;
  // The largest first, so that threads finish together.
  std::sort(blocks_.begin(), blocks_.end(),
            [](const Block& a, const Block& b) { return a.products > b.products; });
  for (size_t i = 0; i < blocks_.size(); ++i) add_items(static_cast<int>(i), threads);
}

// Where this layer's part of each page of each sequence begins. Pages wholly before a window may be absent.
void AttentionPlan::resolve_pages(const Attention& op) {
  for (int s = 0; s < op.segments.count; ++s) {
    const SegmentRow& seg = segment(op.segments, s);
    const int32_t* table = row_pointer<int32_t>(op.page_table, 0) + seg.first_page;
    for (int p = 0; p < pages_of(seg); ++p)
      pages_.push_back(table[p] < 0 ? nullptr : page_pointer(op.kv, table[p]));
  }
}

void AttentionPlan::add_blocks(const Attention& op, int threads) {
  const KvShape& shape = op.kv.shape;
  const int group = op.query_heads / shape.heads;
  const int64_t rows_of_all = static_cast<int64_t>(op.segments.rows) * op.query_heads;
  const int64_t wanted = rows_of_all / (threads * kBlocksPerThread) / kTileRows * kTileRows;
  const auto block_rows = static_cast<int>(std::clamp<int64_t>(
      wanted, std::max(kTileRows, std::min(group, AttentionTask::kMaxRows)), AttentionTask::kMaxRows));
  size_t first_page = 0;
  for (int s = 0; s < op.segments.count; ++s) {
    const SegmentRow& seg = segment(op.segments, s);
    AttentionTask task;
    task.head = {shape.key_size, shape.value_size};
    task.pages = pages_.data() + first_page;
    task.query_stride = static_cast<size_t>(op.queries.stride);
    task.out_stride = static_cast<size_t>(op.out.stride);
    task.group = group;
    task.first_position = seg.first_position;
    task.scale = op.scale;
    task.window = op.window;
    for (int h = 0; h < shape.heads; ++h) {
      task.sinks = op.sinks ? row_pointer(op.sinks, 0) + h * group : nullptr;
      task.head_offset = static_cast<size_t>(h) * kv_head_bytes(shape);
      task.queries = row_pointer(op.queries, seg.first_row) + h * group * shape.key_size;
      task.out = row_pointer(op.out, seg.first_row) + h * group * shape.value_size;
      for (task.first = 0; task.first < seg.rows * group; task.first += block_rows) {
        task.rows = std::min(block_rows, seg.rows * group - task.first);
        blocks_.push_back(make_block(task));
      }
    }
    first_page += static_cast<size_t>(pages_of(seg));
  }
}

void AttentionPlan::add_items(int number, int threads) {
  Block& block = blocks_[static_cast<size_t>(number)];
  const size_t partials =
      static_cast<size_t>(block.splits) * cpu::partial_floats(block.task.head, block.task.rows);
  const bool large = block.products * threads * 2 > products_;
  if (threads == 1 || block.splits == 1 || !large || partial_floats_ + partials > kMostPartialFloats) {
    items_.push_back({number, kWhole});
    return;
  }
  block.partials = partial_floats_;
  partial_floats_ += partials;
  cut_blocks_.push_back(number);
  for (int split = 0; split < block.splits; ++split) items_.push_back({number, split});
}

}  // namespace tempo9::backend::cpu
