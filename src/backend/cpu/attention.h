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
#include "backend/cpu/kv_store.h"
#include "backend/cpu/math.h"

namespace tempo9::backend::cpu {

// The running softmax of a task's rows, in memory of partial_floats().
struct Partial {
  float* largest;
  float* total;
  float* sums;  // rows x value_size
};

template <class L, template <class> class StoreOf>
struct AttentionKernel {
  using Store = StoreOf<L>;
  using Page = typename Store::Page;
  using Factor = typename Store::Factor;
  using Floats = typename L::Floats;
  static constexpr float kNone = -1e30f;
  static constexpr int kMaxRows = AttentionTask::kMaxRows;

  // Vectors beside each other in a tile of R rows: a power of two, as registers allow.
  template <int R>
  static constexpr int width() {
    int w = 1;
    while (w < 4 && 2 * w * R <= L::kAccumulators && 2 * w * L::kLanes <= kPageTokens) w *= 2;
    return w;
  }

  static Partial partial_at(float* memory) { return {memory, memory + kMaxRows, memory + 2 * kMaxRows}; }
  static Partial row_of(const Partial& p, int row, int value_size) {
    return {p.largest + row, p.total + row, p.sums + row * value_size};
  }
  static void clear(const Partial& p, int rows, int value_size) {
    for (int r = 0; r < rows; ++r) {
      p.largest[r] = kNone;
      p.total[r] = 0;
    }
    std::memset(p.sums, 0, sizeof(float) * static_cast<size_t>(rows) * static_cast<size_t>(value_size));
  }

  // A task with its queries ready for Store::step, rows x key_size / kPack, and what each row sees.
  struct Job {
    const AttentionTask& task;
    const Factor* queries;
    int first[kMaxRows], last[kMaxRows];  // positions

    int first_split() const { return first[0] / kSplitTokens; }
    int last_split() const { return last[task.rows - 1] / kSplitTokens; }
  };

  static void find_ranges(Job& job) {
    const AttentionTask& task = job.task;
    for (int r = 0; r < task.rows; ++r) {
      const int position = task.first_position + (task.first + r) / task.group;
      job.last[r] = position;
      job.first[r] = task.window > 0 && position >= task.window ? position - task.window + 1 : 0;
    }
  }

  static const Factor* load_queries(const AttentionTask& task, float* scratch) {
    auto* out = reinterpret_cast<Factor*>(scratch);
    const auto scale = L::set(task.scale * kLog2E);
    const int size = task.head.key_size;
    for (int r = 0; r < task.rows; ++r) {
      const int token = (task.first + r) / task.group, head = (task.first + r) % task.group;
      const float* query = task.queries + static_cast<size_t>(token) * task.query_stride + head * size;
      for (int d = 0; d < size; d += 16) {
        float scaled[16];
        for (int i = 0; i < 16; i += L::kLanes) L::store(scaled + i, L::mul(L::load(query + d + i), scale));
        Store::pack(scaled, 16, out + (r * size + d) / Store::kPack);
      }
    }
    return out;
  }

  // R rows by T vectors of tokens.
  template <int R, int T>
  static void score_tile(const Factor* queries, int steps, const Page& page, int token, float* scores) {
    Floats sum[R][T];
    for (int r = 0; r < R; ++r)
      for (int t = 0; t < T; ++t) sum[r][t] = L::zero();
    for (int first = 0; first < steps; first += Store::kScaledSteps) {
      const auto scales = Store::template key_scales<T>(page, first, token);
      const int last = steps - first < Store::kScaledSteps ? steps : first + Store::kScaledSteps;
      for (int s = first; s < last; ++s) {
        decltype(Store::load_key(page.keys, scales, 0)) key[T];
#pragma GCC unroll 4
        for (int t = 0; t < T; ++t) key[t] = Store::load_key(page.key(s, token + t * L::kLanes), scales, t);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
          for (int t = 0; t < T; ++t) sum[r][t] = Store::step(key[t], queries[r * steps + s], sum[r][t]);
      }
    }
    for (int r = 0; r < R; ++r)
      for (int t = 0; t < T; ++t) L::store(scores + r * kPageTokens + token + t * L::kLanes, sum[r][t]);
  }

  // R rows by V vectors of dimensions, over a range of steps.
  template <int R, int V>
  static void sum_tile(const Factor* weights, const float* alpha, const Page& page, int dimension, int first,
                       int last, float* sums) {
    Floats sum[R][V];
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v)
        sum[r][v] = L::mul(L::load(sums + r * page.value_size + dimension + v * L::kLanes), L::set(alpha[r]));
    const auto scales = Store::template value_scales<V>(page, dimension);
    for (int s = first; s < last; ++s) {
      decltype(Store::load_value(page.values, scales, 0, s)) value[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v)
        value[v] = Store::load_value(page.value(s, dimension + v * L::kLanes), scales, v, s);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v)
          sum[r][v] = Store::step(value[v], weights[r * kPageTokens + s], sum[r][v]);
    }
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v) L::store(sums + r * page.value_size + dimension + v * L::kLanes, sum[r][v]);
  }

  static float exp2_one(float x) {
    float lanes[L::kLanes];
    L::store(lanes, exp2_of_negative<L>(L::set(x)));
    return lanes[0];
  }

  static float sum_of_weights(const float* w) {
    float s[16];
    for (int i = 0; i < 16; ++i) s[i] = (w[i] + w[i + 16]) + (w[i + 32] + w[i + 48]);
    return fold16<L>(s);
  }

  // Turns the scores of tokens low .. high - 1 into weights and all others into 0; updates largest and total.
  // Returns alpha.
  static float soften(float* scores, int low, int high, const Partial& row, Factor* weights) {
    for (int t = 0; t < low; ++t) scores[t] = kNone;
    for (int t = high; t < kPageTokens; ++t) scores[t] = kNone;
    Floats top = L::load(scores);
    for (int t = L::kLanes; t < kPageTokens; t += L::kLanes) top = L::max(top, L::load(scores + t));
    float lanes[L::kLanes], largest = *row.largest;
    L::store(lanes, top);
    for (float x : lanes) largest = x > largest ? x : largest;
    for (int t = 0; t < kPageTokens; t += L::kLanes)
      L::store(scores + t, exp2_of_negative<L>(L::sub(L::load(scores + t), L::set(largest))));
    for (int t = 0; t < low; ++t) scores[t] = 0;
    for (int t = high; t < kPageTokens; ++t) scores[t] = 0;
    Store::pack(scores, kPageTokens, weights);
    const float alpha = exp2_one(*row.largest - largest);
    *row.total = *row.total * alpha + sum_of_weights(scores);
    *row.largest = largest;
    return alpha;
  }

  // Rows row .. row + R - 1 of the task through one page.
  template <int R>
  static void page_rows(const Job& job, int row, int page_number, const Partial& partial) {
    const AttentionTask& task = job.task;
    const int first_token = page_number * kPageTokens, value_size = task.head.value_size;
    int low[R], high[R], lowest = kPageTokens, highest = 0;
    for (int r = 0; r < R; ++r) {
      const int from = job.first[row + r] - first_token, to = job.last[row + r] + 1 - first_token;
      high[r] = to < 0 ? 0 : to < kPageTokens ? to : kPageTokens;
      low[r] = from < 0 ? 0 : from < high[r] ? from : high[r];
      if (low[r] == high[r]) continue;
      lowest = low[r] < lowest ? low[r] : lowest;
      highest = high[r] > highest ? high[r] : highest;
    }
    if (highest == 0) return;

    const Page page(const_cast<std::byte*>(task.pages[page_number]) + task.head_offset, task.head);
    alignas(64) float scores[R * kPageTokens];
    alignas(64) Factor weights[R * kPageTokens];
    float alpha[R];
    constexpr int kWidth = width<R>(), kSpan = kWidth * L::kLanes;
    const int steps = task.head.key_size / Store::kPack;
    const Factor* queries = job.queries + row * steps;
    for (int t = lowest / kSpan * kSpan; t < highest; t += kSpan)
      score_tile<R, kWidth>(queries, steps, page, t, scores);
    for (int r = 0; r < R; ++r)
      alpha[r] = soften(scores + r * kPageTokens, low[r], high[r], row_of(partial, row + r, value_size),
                        weights + r * kPageTokens);
    float* sums = partial.sums + row * value_size;
    const int first = lowest / Store::kPack, last = (highest + Store::kPack - 1) / Store::kPack;
    int d = 0;
    for (; d + kSpan <= value_size; d += kSpan)
      sum_tile<R, kWidth>(weights, alpha, page, d, first, last, sums);
    for (; d < value_size; d += L::kLanes) sum_tile<R, 1>(weights, alpha, page, d, first, last, sums);
  }

  // Clears `partial` and takes all rows through one split.
  static void take_split(const Job& job, int split, const Partial& partial) {
    const int rows = job.task.rows, first_page = job.first[0] / kPageTokens;
    const int last_page = job.last[rows - 1] / kPageTokens;
    clear(partial, rows, job.task.head.value_size);
    for (int p = split * kSplitPages; p < (split + 1) * kSplitPages && p <= last_page; ++p) {
      if (p < first_page) continue;
      int r = 0;
      if constexpr (L::kAccumulators >= 16)
        for (; r + 8 <= rows; r += 8) page_rows<8>(job, r, p, partial);
      for (; r + 4 <= rows; r += 4) page_rows<4>(job, r, p, partial);
      if (r + 3 == rows) page_rows<3>(job, r, p, partial);
      if (r + 2 == rows) page_rows<2>(job, r, p, partial);
      if (r + 1 == rows) page_rows<1>(job, r, p, partial);
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

  static void attend(const AttentionTask& task, float* scratch) {
    Job job{task, load_queries(task, scratch), {}, {}};
    find_ranges(job);
    float* memory = after_queries(task, scratch);
    const Partial all = partial_at(memory);
    const Partial part = partial_at(memory + partial_floats(task.head, kMaxRows));
    start(task, all);
    for (int split = job.first_split(); split <= job.last_split(); ++split) {
      take_split(job, split, part);
      fold(job, split, part, all);
    }
    finish(task, all);
  }

  static void attend_split(const AttentionTask& task, int split, float* scratch, float* partial) {
    Job job{task, load_queries(task, scratch), {}, {}};
    find_ranges(job);
    take_split(job, split, partial_at(partial));
  }

  static void fold_splits(const AttentionTask& task, float* partials, float* scratch) {
    Job job{task, nullptr, {}, {}};
    find_ranges(job);
    const Partial all = partial_at(after_queries(task, scratch));
    start(task, all);
    for (int split = job.first_split(); split <= job.last_split(); ++split) {
      fold(job, split, partial_at(partials), all);
      partials += partial_floats(task.head, task.rows);
    }
    finish(task, all);
  }

  static constexpr KvKernels table() {
    return {Store::write, attend, attend_split, fold_splits};
  }
};

}  // namespace tempo9::backend::cpu
