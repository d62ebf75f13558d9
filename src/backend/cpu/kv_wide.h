// A page's keys and values of one head as floats, made once for many rows of queries, each in the order in
// which a tile reads them:
//   float keys[64 / lanes][key_size][lanes], values[value_size / lanes][64][lanes]
// What a store holds in pairs comes one by one, the odd one first: the order of L::pair_dot. So a chain of
// fma over such a page has the bits of one over the page itself.
#pragma once
#include "backend/cpu/kv_store.h"

namespace tempo9::backend::cpu {

template <class L, class Store>
struct WideStore : OneByOne<L>, Unscaled<WideStore<L, Store>> {
  using Floats = typename L::Floats;
  static constexpr bool kWide = true, kPacksInPlace = Store::kPack == 1;
  static constexpr int kTokens = Store::kPack;
  static constexpr int kVectors = kPageTokens / L::kLanes;  // of tokens

  struct Page {
    const float *keys, *values;
    int key_size, value_size;

    const float* key(int step, int token) const { return keys + token * key_size + step * L::kLanes; }
    const float* value(int token, int dimension) const {
      return values + dimension * kPageTokens + token * L::kLanes;
    }
  };
  static Floats load(const float* p) { return L::load(p); }

  // Rounds x as the store does.
  static void pack(float* x, int count, float* out) {
    typename Store::Factor rounded[kPageTokens];
    Store::pack(x, count, rounded);
    for (int i = 0; i < count; ++i) out[i] = x[i ^ (Store::kPack - 1)];
  }

  // `memory`: wide_page_floats().
  static Page widen(const typename Store::Page& page, KvHead head, float* memory) {
    float* const values = memory + kPageTokens * head.key_size;
    for (int token = 0; token < kPageTokens; token += L::kLanes)
      widen_keys(page, head.key_size / Store::kPack, token, memory + token * head.key_size);
    for (int d = 0; d < head.value_size; d += L::kLanes) {
      const auto scales = Store::template value_scales<1>(page, d);
      float* out = values + d * kPageTokens;
      for (int s = 0; s < kPageTokens / Store::kPack; ++s, out += Store::kPack * L::kLanes)
        put(Store::load_value(page.value(s, d), scales, 0, s), out);
    }
    return {memory, values, head.key_size, head.value_size};
  }

 private:
  // One vector of tokens.
  static void widen_keys(const typename Store::Page& page, int steps, int token, float* out) {
    for (int first = 0; first < steps; first += Store::kScaledSteps) {
      const auto scales = Store::template key_scales<1>(page, first, token);
      const int last = steps - first < Store::kScaledSteps ? steps : first + Store::kScaledSteps;
      for (int s = first; s < last; ++s, out += Store::kPack * L::kLanes)
        put(Store::load_key(page.key(s, token), scales, 0), out);
    }
  }
  template <class Element>
  static void put(Element x, float* out) {
    if constexpr (Store::kPack == 1) {
      L::store(out, x);
    } else {
      L::store(out, L::odd_of(x));
      L::store(out + L::kLanes, L::even_of(x));
    }
  }
};

}  // namespace tempo9::backend::cpu
