#include "text/token_index.h"

#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tempo9::text {

TokenIndex::TokenIndex(size_t tokens) : slots_(std::bit_ceil(2 * tokens + 2), Slot{0, kNoToken}) {}

void TokenIndex::add(const StringTable& strings, TokenId token) {
  const std::string_view string = strings[static_cast<size_t>(token)];
  const uint64_t hash = XXH3_64bits(string.data(), string.size());
  Slot& slot = slots_[find_slot(strings, string, hash)];
  if (slot.token == kNoToken) slot = {static_cast<uint32_t>(hash >> 32), token};
}

TokenId TokenIndex::find(const StringTable& strings, std::string_view string) const {
  return slots_[find_slot(strings, string, XXH3_64bits(string.data(), string.size()))].token;
}

// The slot that holds `string`, or the free one where it would go.
size_t TokenIndex::find_slot(const StringTable& strings, std::string_view string, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  const auto upper = static_cast<uint32_t>(hash >> 32);  // the lower half has chosen the slot
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.token == kNoToken) return at;
    if (slot.hash == upper && strings[static_cast<size_t>(slot.token)] == string) return at;
  }
}

}  // namespace tempo9::text
