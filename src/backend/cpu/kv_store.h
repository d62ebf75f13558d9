// How the keys and values of one head lie in a page of 64 tokens, per KvType. Keys have tokens side by side
// (a score needs no sum across lanes), values have dimensions side by side:
//   Element keys[key_size / kPack][64], values[64 / kPack][value_size]
// where an element holds kPack dimensions of a key, or kPack tokens of a value. A store with scales has those
// of the keys behind the keys, and those of the values behind the values, both [blocks of dimensions][64].
//
// A store is asked for the scales of a tile first and then, with them, for its vectors. Steps are elements of
// a key, in ascending order; kScaledSteps of them share their scales. kTokens tokens are used together.
// kWidens: whether many rows go faster over a wide page (kv_wide.h). kPacksInPlace: weights are factors as
// they are.
#pragma once
#include "backend/cpu/kernels.h"

namespace tempo9::backend::cpu {

template <class Store>
struct PageHead {
  using Element = typename Store::Element;
  Element* keys;
  Element* values;
  int value_size;

  PageHead(std::byte* place, KvHead head)
      : keys(reinterpret_cast<Element*>(place)),
        values(keys + head.key_size / Store::kPack * kPageTokens),
        value_size(head.value_size) {}
  const Element* key(int step, int token) const { return keys + step * kPageTokens + token; }
  const Element* value(int step, int dimension) const { return values + step * value_size + dimension; }
};

// What stores without scales say about them.
template <class Store>
struct Unscaled {
  struct Scales {};
  static constexpr int kScaledSteps = 1 << 20;
  template <int T, class Page>
  static Scales key_scales(const Page&, int /*step*/, int /*token*/) {
    return {};
  }
  template <int V, class Page>
  static Scales value_scales(const Page&, int /*dimension*/) {
    return {};
  }
  template <class Element>
  static auto load_key(const Element* p, const Scales&, int /*t*/) {
    return Store::load(p);
  }
  template <class Element>
  static auto load_value(const Element* p, const Scales&, int /*v*/, int /*token*/) {
    return Store::load(p);
  }
};

// Stores whose elements are used as floats, one by one.
template <class L>
struct OneByOne {
  using Factor = float;  // what a vector of elements is multiplied with: a query or a weight
  static constexpr int kPack = 1, kTokens = 1;
  static constexpr bool kWide = false, kWidens = true, kPacksInPlace = true;
  static typename L::Floats step(typename L::Floats x, Factor f, typename L::Floats sum) {
    return L::fma(L::set(f), x, sum);
  }
  static void pack(float* x, int count, Factor* out) { std::memcpy(out, x, sizeof(float) * count); }
};

template <class L>
struct FloatStore : OneByOne<L>, Unscaled<FloatStore<L>> {
  using Element = float;
  using Page = PageHead<FloatStore>;
  static typename L::Floats load(const Element* p) { return L::load(p); }

  static void write(std::byte* place, KvHead head, int token, const float* key, const float* value, bool) {
    const Page page(place, head);
    for (int d = 0; d < head.key_size; ++d) page.keys[d * kPageTokens + token] = key[d];
    for (int d = 0; d < head.value_size; ++d) page.values[token * head.value_size + d] = value[d];
  }
};

template <class L>
struct HalfStore : OneByOne<L>, Unscaled<HalfStore<L>> {
  using Element = uint16_t;
  using Page = PageHead<HalfStore>;
  static typename L::Floats load(const Element* p) { return L::load_half(p); }

  static void write(std::byte* place, KvHead head, int token, const float* key, const float* value, bool) {
    const Page page(place, head);
    for (int d = 0; d < head.key_size; d += L::kLanes) {
      uint16_t halves[L::kLanes];
      L::store_half(halves, L::load(key + d));
      for (int i = 0; i < L::kLanes; ++i) page.keys[(d + i) * kPageTokens + token] = halves[i];
    }
    uint16_t* row = page.values + token * head.value_size;
    for (int d = 0; d < head.value_size; d += L::kLanes) L::store_half(row + d, L::load(value + d));
  }
};

// Queries and weights are rounded to bf16 as well; sums are f32. The writer of an even token clears its
// neighbour's place unless that is being written too, so what is read is always a number.
template <class L>
struct BfloatStore : Unscaled<BfloatStore<L>> {
  using Element = uint32_t;
  using Factor = uint32_t;
  using Page = PageHead<BfloatStore>;
  static constexpr int kPack = 2, kTokens = 2;
  static constexpr bool kWide = false, kWidens = !L::kDotsPairs, kPacksInPlace = false;
  static typename L::Pairs load(const Element* p) { return L::load_pairs(p); }
  static typename L::Floats step(typename L::Pairs x, Factor f, typename L::Floats sum) {
    return L::pair_dot(x, f, sum);
  }

  static uint32_t round(float x) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return bits >> 16 | 0x40u;  // NaN stays NaN
    return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  }
  // Rounds x in place as well: the total of the weights is that of the weights used.
  static void pack(float* x, int count, Factor* out) {
    for (int i = 0; i < count; i += 2) {
      const uint32_t even = round(x[i]), odd = round(x[i + 1]);
      x[i] = __builtin_bit_cast(float, even << 16);
      x[i + 1] = __builtin_bit_cast(float, odd << 16);
      out[i / 2] = even | odd << 16;
    }
  }

  static void write(std::byte* place, KvHead head, int token, const float* key, const float* value,
                    bool clear_next) {
    auto* keys = reinterpret_cast<uint16_t*>(place);
    for (int d = 0; d < head.key_size; ++d)
      keys[(d / 2 * kPageTokens + token) * 2 + d % 2] = static_cast<uint16_t>(round(key[d]));
    uint16_t* values = keys + head.key_size * kPageTokens + token / 2 * head.value_size * 2;
    for (int d = 0; d < head.value_size; ++d)
      values[2 * d + token % 2] = static_cast<uint16_t>(round(value[d]));
    if (token % 2 == 0 && clear_next)
      for (int d = 0; d < head.value_size; ++d) values[2 * d + 1] = 0;
  }
};

// Bytes with a scale for each 32 dimensions (ops.h, KvType::kQ8_0). A level times its scale is exact in f32,
// so the arithmetic is that of an f32 store of the rounded values.
template <class L>
struct ByteStore : OneByOne<L> {
  static constexpr int kBlock = kBlockColumns, kScaledSteps = kBlock;

  struct Page {
    int8_t* keys;
    uint16_t* scales_of_keys;
    int8_t* values;
    uint16_t* scales_of_values;
    int value_size;

    Page(std::byte* place, KvHead head)
        : keys(reinterpret_cast<int8_t*>(place)),
          scales_of_keys(reinterpret_cast<uint16_t*>(keys + head.key_size * kPageTokens)),
          values(reinterpret_cast<int8_t*>(scales_of_keys + blocks(head.key_size) * kPageTokens)),
          scales_of_values(reinterpret_cast<uint16_t*>(values + head.value_size * kPageTokens)),
          value_size(head.value_size) {}
    static int blocks(int size) { return (size + kBlock - 1) / kBlock; }
    const int8_t* key(int step, int token) const { return keys + step * kPageTokens + token; }
    const int8_t* value(int token, int dimension) const { return values + token * value_size + dimension; }
  };

  template <int T>
  struct KeyScales {
    typename L::Floats of[T];
  };
  // Of T vectors of tokens.
  template <int T>
  static KeyScales<T> key_scales(const Page& page, int step, int token) {
    KeyScales<T> scales;
    const uint16_t* p = page.scales_of_keys + step / kBlock * kPageTokens + token;
    for (int t = 0; t < T; ++t) scales.of[t] = L::load_half(p + t * L::kLanes);
    return scales;
  }
  template <int T>
  static typename L::Floats load_key(const int8_t* p, const KeyScales<T>& scales, int t) {
    return L::mul(L::signed_bytes(p), scales.of[t]);
  }

  // Of V vectors of dimensions, which begin at a multiple of their number: their blocks, for each token.
  template <int V>
  struct ValueScales {
    static constexpr int kBlocks = V * L::kLanes > kBlock ? V* L::kLanes / kBlock : 1;
    alignas(64) float of[kBlocks][kPageTokens];
  };
  template <int V>
  static ValueScales<V> value_scales(const Page& page, int dimension) {
    ValueScales<V> scales;
    const uint16_t* p = page.scales_of_values + dimension / kBlock * kPageTokens;
    for (int b = 0; b < ValueScales<V>::kBlocks; ++b)
      for (int t = 0; t < kPageTokens; t += L::kLanes)
        L::store(scales.of[b] + t, L::load_half(p + b * kPageTokens + t));
    return scales;
  }
  template <int V>
  static typename L::Floats load_value(const int8_t* p, const ValueScales<V>& scales, int v, int token) {
    return L::mul(L::signed_bytes(p), L::set(scales.of[v * L::kLanes / kBlock][token]));
  }

  // Rounds 32 values to levels; returns the scale's bits.
  static uint16_t quantise(const float* x, ActivationBlock& out) {
    constexpr float kMost = 127.0f * 65504.0f;
    constexpr uint16_t kNan = 0x7e00;
    std::memset(out.levels, 0, sizeof out.levels);
    const float largest = L::largest_magnitude(x);
    if (!(largest <= kMost)) return kNan;
    if (largest == 0) return 0;
    uint16_t bits = nearest_half(largest * (1.0f / 127.0f));
    if (value_of_half(bits) * 127.0f < largest) ++bits;
    L::to_levels(x, 1.0f / value_of_half(bits), out);
    return bits;
  }
  static uint16_t nearest_half(float x) {
    uint16_t lanes[L::kLanes];
    L::store_half(lanes, L::set(x));
    return lanes[0];
  }
  static float value_of_half(uint16_t bits) {
    uint16_t halves[L::kLanes] = {bits};
    float lanes[L::kLanes];
    L::store(lanes, L::load_half(halves));
    return lanes[0];
  }

  // Calls body(first dimension, dimensions, levels, scale) for each block of `size` values.
  template <class Body>
  static void for_each_block(const float* x, int size, Body body) {
    for (int d = 0; d < size; d += kBlock) {
      const int count = size - d < kBlock ? size - d : kBlock;
      float padded[kBlock] = {};
      std::memcpy(padded, x + d, sizeof(float) * static_cast<size_t>(count));
      ActivationBlock block;
      const uint16_t scale = quantise(padded, block);
      body(d, count, block.levels, scale);
    }
  }

  static void write(std::byte* place, KvHead head, int token, const float* key, const float* value, bool) {
    const Page page(place, head);
    for_each_block(key, head.key_size, [&](int first, int count, const int8_t* levels, uint16_t scale) {
      page.scales_of_keys[first / kBlock * kPageTokens + token] = scale;
      for (int i = 0; i < count; ++i) page.keys[(first + i) * kPageTokens + token] = levels[i];
    });
    for_each_block(value, head.value_size, [&](int first, int count, const int8_t* levels, uint16_t scale) {
      page.scales_of_values[first / kBlock * kPageTokens + token] = scale;
      std::memcpy(page.values + token * head.value_size + first, levels, static_cast<size_t>(count));
    });
  }
};

}  // namespace tempo9::backend::cpu
