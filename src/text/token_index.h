// From a string to the token that it is: a hash table with open addressing. Strings are not copied: the same
// StringTable is given to every call.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "text/string_table.h"

namespace tempo9::text {

inline constexpr TokenId kNoToken = -1;

class TokenIndex {
 public:
  // Room for `tokens` entries; no more may be added.
  explicit TokenIndex(size_t tokens);
  // Adds strings[token], unless an equal string is there already: the first one stays.
  void add(const StringTable& strings, TokenId token);
  // kNoToken if there is none.
  TokenId find(const StringTable& strings, std::string_view string) const;

 private:
  struct Slot {
    uint32_t hash;
    TokenId token;
  };
  size_t find_slot(const StringTable& strings, std::string_view string, uint64_t hash) const;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace tempo9::text
