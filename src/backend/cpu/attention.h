// Attention over pages, read in place. A row is one query head of one token; rows that share a key/value head
// go together, so each page is read and widened once for all of them.
//
// The contract that fixes the bits of one row, whatever rows go with it and however a prompt was cut:
//   score = chain of fma over the head's dimensions, ascending; queries are multiplied by scale * log2(e)
//   beforehand (and rounded to bf16 with a bf16 store).
//   In a page: largest = the maximum so far, alpha = exp2(old largest - largest), weight = exp2(score -
//   largest), 0 for tokens the row does not see; total = total * alpha + the weights' sum in 16 chains; sums
//   = chain of fma over tokens, ascending, from sums * alpha. A split is 8 pages, counted from the sequence's
//   start; splits in which the row sees a token are folded in order. With a bf16 store, dimensions and tokens
//   go in pairs, the odd one first.
// Tokens a row does not see have weight 0 and change nothing, as every value that is read is finite.
#pragma once
#include "backend/cpu/attention_page.h"

namespace tempo9::backend::cpu {

template <class L, template <class> class StoreOf>
struct AttentionKernel {
  using Store = StoreOf<L>;
  using Wide = WideStore<L, Store>;
  static constexpr int kMaxRows = AttentionTask::kMaxRows;
  // From this many rows on it pays to widen a page once instead of each of its elements for every tile.
  static constexpr int kWidenRows = 48;

  static Partial partial_at(float* memory) { return {memory, memory + kMaxRows, memory + 2 * kMaxRows}; }
  static void clear(const Partial& p, int rows, int value_size) {
    for (int r = 0; r < rows; ++r) {
      p.largest[r] = kNoScore;
      p.total[r] = 0;
    }
    std::memset(p.sums, 0, sizeof(float) * static_cast<size_t>(rows) * static_cast<size_t>(value_size));
  }

  // A task, what each of its rows sees, and memory for a wide page.
  struct Job {
    const AttentionTask& task;
    float* wide;
    int first[kMaxRows], last[kMaxRows];  // positions

    int first_split() const { return first[0] / kSplitTokens; }
    int last_split() const { return last[task.rows - 1] / kSplitTokens; }
  };

  static Job make_job(const AttentionTask& task, float* scratch) {
    Job job{task, after_queries(task, scratch) + 2 * partial_floats(task.head, kMaxRows), {}, {}};
    for (int r = 0; r < task.rows; ++r) {
      const int position = task.first_position + (task.first + r) / task.group;
      job.last[r] = position;
      job.first[r] = task.window > 0 && position >= task.window ? position - task.window + 1 : 0;
    }
    return job;
  }

  static void find_seen(const Job& job, int page, Seen* seen) {
    for (int r = 0; r < job.task.rows; ++r) {
      const int from = job.first[r] - page * kPageTokens, to = job.last[r] + 1 - page * kPageTokens;
      const int high = to < 0 ? 0 : to < kPageTokens ? to : kPageTokens;
      seen[r] = {from < 0 ? 0 : from < high ? from : high, high};
    }
  }

  // Queries ready for S::step, rows x key_size / kPack.
  template <class S>
  static void load_queries(const AttentionTask& task, typename S::Factor* out) {
    const auto scale = L::set(task.scale * kLog2E);
    const int size = task.head.key_size;
    for (int r = 0; r < task.rows; ++r) {
      const int token = (task.first + r) / task.group, head = (task.first + r) % task.group;
      const float* query = task.queries + static_cast<size_t>(token) * task.query_stride + head * size;
      for (int d = 0; d < size; d += 16) {
        float scaled[16];
        for (int i = 0; i < 16; i += L::kLanes) L::store(scaled + i, L::mul(L::load(query + d + i), scale));
        S::pack(scaled, 16, out + (r * size + d) / S::kPack);
      }
    }
  }

  static float exp2_one(float x) {
    float lanes[L::kLanes];
    L::store(lanes, exp2_of_negative<L>(L::set(x)));
    return lanes[0];
  }

  template <class S>
  static typename S::Page open_page(const Job& job, int number) {
    const AttentionTask& task = job.task;
    const typename Store::Page page(const_cast<std::byte*>(task.pages[number]) + task.head_offset, task.head);
    if constexpr (S::kWide)
      return S::widen(page, task.head, job.wide);
    else
      return page;
  }

  // Clears `partial` and takes all rows through one split.
  template <class S>
  static void take_split(const Job& job, int split, const typename S::Factor* queries,
                         const Partial& partial) {
    const int rows = job.task.rows, first_page = job.first[0] / kPageTokens;
    const int last_page = job.last[rows - 1] / kPageTokens;
    clear(partial, rows, job.task.head.value_size);
    for (int p = split * kSplitPages; p < (split + 1) * kSplitPages && p <= last_page; ++p) {
      if (p < first_page) continue;
      Seen seen[kMaxRows];
      find_seen(job, p, seen);
      PageKernel<L, S>::take_rows(rows, open_page<S>(job, p), job.task.head.key_size, queries, seen, partial);
    }
  }

  // Folds the rows that see a token of the split into `all`.
  static void fold(const Job& job, int split, const Partial& part, const Partial& all) {
    const int size = job.task.head.value_size;
    for (int r = 0; r < job.task.rows; ++r) {
      if (job.last[r] < split * kSplitTokens || job.first[r] >= (split + 1) * kSplitTokens) continue;
      const float largest = part.largest[r] > all.largest[r] ? part.largest[r] : all.largest[r];
      const float a = exp2_one(all.largest[r] - largest), b = exp2_one(part.largest[r] - largest);
      all.largest[r] = largest;
      all.total[r] = __builtin_fmaf(part.total[r], b, all.total[r] * a);
      float* sums = all.sums + r * size;
      for (int d = 0; d < size; d += L::kLanes)
        L::store(sums + d,
                 L::fma(L::load(part.sums + r * size + d), L::set(b), L::mul(L::load(sums + d), L::set(a))));
    }
  }

  static void finish(const AttentionTask& task, const Partial& all) {
    const int size = task.head.value_size;
    for (int r = 0; r < task.rows; ++r) {
      const int token = (task.first + r) / task.group, head = (task.first + r) % task.group;
      float* out = task.out + static_cast<size_t>(token) * task.out_stride + head * size;
      const auto inverse = L::set(1.0f / all.total[r]);
      for (int d = 0; d < size; d += L::kLanes)
        L::store(out + d, L::mul(L::load(all.sums + r * size + d), inverse));
    }
  }

  static float* after_queries(const AttentionTask& task, float* scratch) {
    return scratch + kMaxRows * task.head.key_size;
  }

  // Before any token: nothing, or the sink, a score that has no value.
  static void start(const AttentionTask& task, const Partial& all) {
    clear(all, task.rows, task.head.value_size);
    if (task.sinks == nullptr) return;
    for (int r = 0; r < task.rows; ++r) {
      all.largest[r] = task.sinks[(task.first + r) % task.group] * kLog2E;
      all.total[r] = 1;
    }
  }

  static bool widens(const AttentionTask& task) { return Store::kWidens && task.rows >= kWidenRows; }

  template <class S>
  static void attend_by(const AttentionTask& task, float* scratch) {
    const Job job = make_job(task, scratch);
    auto* queries = reinterpret_cast<typename S::Factor*>(scratch);
    load_queries<S>(task, queries);
    float* memory = after_queries(task, scratch);
    const Partial all = partial_at(memory);
    const Partial part = partial_at(memory + partial_floats(task.head, kMaxRows));
    start(task, all);
    for (int split = job.first_split(); split <= job.last_split(); ++split) {
      take_split<S>(job, split, queries, part);
      fold(job, split, part, all);
    }
    finish(task, all);
  }

  static void attend(const AttentionTask& task, float* scratch) {
    widens(task) ? attend_by<Wide>(task, scratch) : attend_by<Store>(task, scratch);
  }

  template <class S>
  static void attend_split_by(const AttentionTask& task, int split, float* scratch, float* partial) {
    auto* queries = reinterpret_cast<typename S::Factor*>(scratch);
    load_queries<S>(task, queries);
    take_split<S>(make_job(task, scratch), split, queries, partial_at(partial));
  }
  static void attend_split(const AttentionTask& task, int split, float* scratch, float* partial) {
    widens(task) ? attend_split_by<Wide>(task, split, scratch, partial)
                 : attend_split_by<Store>(task, split, scratch, partial);
  }

  static void fold_splits(const AttentionTask& task, float* partials, float* scratch) {
    const Job job = make_job(task, scratch);
    const Partial all = partial_at(after_queries(task, scratch));
    start(task, all);
    for (int split = job.first_split(); split <= job.last_split(); ++split) {
      fold(job, split, partial_at(partials), all);
      partials += partial_floats(task.head, task.rows);
    }
    finish(task, all);
  }

  static constexpr KvKernels table() { return {Store::write, attend, attend_split, fold_splits}; }
};

}  // namespace tempo9::backend::cpu
