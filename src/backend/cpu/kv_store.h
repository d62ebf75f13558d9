// How the keys and values of one head lie in a page of 64 tokens, per KvType. Keys have tokens side by side
// (a score needs no sum across lanes), values have dimensions side by side:
//   Element keys[key_size / kPack][64], values[64 / kPack][value_size]
// where an element holds kPack dimensions of a key, or kPack tokens of a value.
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

template <class L>
struct FloatStore {
  using Element = float;
  using Factor = float;  // what a vector of elements is multiplied with: a query or a weight
  static constexpr int kPack = 1;
  static typename L::Floats load(const Element* p) { return L::load(p); }
  static typename L::Floats step(typename L::Floats x, Factor f, typename L::Floats sum) {
    return L::fma(L::set(f), x, sum);
  }
  static void pack(float* x, int count, Factor* out) { std::memcpy(out, x, sizeof(float) * count); }

  static void write(std::byte* place, KvHead head, int token, const float* key, const float* value, bool) {
    const PageHead<FloatStore> page(place, head);
    for (int d = 0; d < head.key_size; ++d) page.keys[d * kPageTokens + token] = key[d];
    for (int d = 0; d < head.value_size; ++d) page.values[token * head.value_size + d] = value[d];
  }
};

template <class L>
struct HalfStore {
  using Element = uint16_t;
  using Factor = float;
  static constexpr int kPack = 1;
  static typename L::Floats load(const Element* p) { return L::load_half(p); }
  static typename L::Floats step(typename L::Floats x, Factor f, typename L::Floats sum) {
    return L::fma(L::set(f), x, sum);
  }
  static void pack(float* x, int count, Factor* out) { std::memcpy(out, x, sizeof(float) * count); }

  static void write(std::byte* place, KvHead head, int token, const float* key, const float* value, bool) {
    const PageHead<HalfStore> page(place, head);
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
struct BfloatStore {
  using Element = uint32_t;
  using Factor = uint32_t;
  static constexpr int kPack = 2;
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

}  // namespace tempo9::backend::cpu
