// Rows of queries through one page: their scores, the softmax so far, and the sums of values.
#pragma once
#include "backend/cpu/kv_wide.h"
#include "backend/cpu/math.h"

namespace tempo9::backend::cpu {

// The running softmax of a task's rows, in memory of partial_floats().
struct Partial {
  float* largest;
  float* total;
  float* sums;  // rows x value_size
};

inline constexpr float kNoScore = -1e30f;  // below every score

// Of a page's tokens, a row sees low .. high - 1.
struct Seen {
  int low, high;
};

template <class L, class Store>
struct PageKernel {
  using Page = typename Store::Page;
  using Factor = typename Store::Factor;
  using Floats = typename L::Floats;

  // Vectors beside each other in a tile of R rows: a power of two, as registers allow. They hold the sums,
  // the elements and a factor.
  template <int R>
  static constexpr int width() {
    int w = 1;
    while (w < 4 && 2 * w * (R + 1) < L::kRegisters && 2 * w * L::kLanes <= kPageTokens) w *= 2;
    return w;
  }

  static Partial from_row(const Partial& p, int row, int value_size) {
    return {p.largest + row, p.total + row, p.sums + row * value_size};
  }

  // R rows by T vectors of tokens. Tiles are never inlined: constants of the code around would take their
  // registers.
  template <int R, int T>
  [[gnu::noinline]] static void score_tile(const Factor* queries, int steps, const Page& page, int token,
                                           float* scores) {
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
  [[gnu::noinline]] static void sum_tile(const Factor* weights, const float* alpha, const Page& page,
                                         int dimension, int first, int last, float* sums) {
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

  static float sum_of_weights(const float* w) {
    constexpr int kVectors = 16 / L::kLanes;
    Floats s[kVectors];
    for (int v = 0; v < kVectors; ++v, w += L::kLanes)
      s[v] = L::add(L::add(L::load(w), L::load(w + 16)), L::add(L::load(w + 32), L::load(w + 48)));
    for (int half = kVectors / 2; half > 0; half /= 2)
      for (int v = 0; v < half; ++v) s[v] = L::add(s[v], s[v + half]);
    return L::sum_of_lanes(s[0]);
  }

  static void fill_outside(float* scores, const Seen& seen, float value) {
    if (seen.high - seen.low == kPageTokens) return;
    for (int t = 0; t < seen.low; ++t) scores[t] = value;
    for (int t = seen.high; t < kPageTokens; ++t) scores[t] = value;
  }

  // Turns the scores of the tokens that each row sees into weights and all others into 0; updates largest and
  // total. Each loop is over all rows, whose chains overlap.
  template <int R>
  static void soften(float* scores, const Seen* seen, const Partial& rows, Factor* weights, float* alpha) {
    for (int r = 0; r < R; ++r) {
      float* row = scores + r * kPageTokens;
      fill_outside(row, seen[r], kNoScore);
      Floats top = L::load(row);
      for (int t = L::kLanes; t < kPageTokens; t += L::kLanes) top = L::max(top, L::load(row + t));
      const float before = rows.largest[r], highest = L::largest_lane(top);
      rows.largest[r] = highest > before ? highest : before;
      alpha[r] = before - rows.largest[r];
    }
    for (int r = 0; r < R; r += L::kLanes) L::store(alpha + r, exp2_of_negative<L>(L::load(alpha + r)));
    for (int r = 0; r < R; ++r) {
      float* row = scores + r * kPageTokens;
      const auto largest = L::set(rows.largest[r]);
      for (int t = 0; t < kPageTokens; t += L::kLanes)
        L::store(row + t, exp2_of_negative<L>(L::sub(L::load(row + t), largest)));
      fill_outside(row, seen[r], 0);
      if constexpr (!Store::kPacksInPlace) Store::pack(row, kPageTokens, weights + r * kPageTokens);
      rows.total[r] = rows.total[r] * alpha[r] + sum_of_weights(row);
    }
  }

  // R rows through a page.
  template <int R>
  static void take(const Page& page, int key_size, const Factor* queries, const Seen* seen,
                   const Partial& rows) {
    int lowest = kPageTokens, highest = 0;
    for (int r = 0; r < R; ++r) {
      if (seen[r].low == seen[r].high) continue;
      lowest = seen[r].low < lowest ? seen[r].low : lowest;
      highest = seen[r].high > highest ? seen[r].high : highest;
    }
    if (highest == 0) return;

    alignas(64) float scores[R * kPageTokens];
    alignas(64) Factor packed[Store::kPacksInPlace ? 1 : R * kPageTokens];
    alignas(64) float alpha[16] = {};  // whole vectors
    Factor* weights;
    if constexpr (Store::kPacksInPlace)
      weights = scores;
    else
      weights = packed;
    constexpr int kWidth = width<R>(), kSpan = kWidth * L::kLanes;
    for (int t = lowest / kSpan * kSpan; t < highest; t += kSpan)
      score_tile<R, kWidth>(queries, key_size / Store::kPack, page, t, scores);
    soften<R>(scores, seen, rows, weights, alpha);
    const int first = lowest / Store::kTokens * (Store::kTokens / Store::kPack);
    const int last = (highest + Store::kTokens - 1) / Store::kTokens * (Store::kTokens / Store::kPack);
    int d = 0;
    for (; d + kSpan <= page.value_size; d += kSpan)
      sum_tile<R, kWidth>(weights, alpha, page, d, first, last, rows.sums);
    for (; d < page.value_size; d += L::kLanes)
      sum_tile<R, 1>(weights, alpha, page, d, first, last, rows.sums);
  }

  // Any number of rows. The tallest tile uses what is loaded for the most of them; of a page that is not wide
  // it also needs registers for widening.
  static void take_rows(int rows, const Page& page, int key_size, const Factor* queries, const Seen* seen,
                        const Partial& partial) {
    constexpr int kTall = Store::kWide ? 6 : L::kRegisters >= 32 ? 8 : 4;
    const auto tile = [&]<int R>(int row) {
      take<R>(page, key_size, queries + row * (key_size / Store::kPack), seen + row,
              from_row(partial, row, page.value_size));
    };
    int r = 0;
    for (; r + kTall <= rows; r += kTall) tile.template operator()<kTall>(r);
    for (; r + 4 <= rows; r += 4) tile.template operator()<4>(r);
    if (r + 3 == rows) tile.template operator()<3>(r);
    if (r + 2 == rows) tile.template operator()<2>(r);
    if (r + 1 == rows) tile.template operator()<1>(r);
  }
};

}  // namespace tempo9::backend::cpu
