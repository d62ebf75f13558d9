// The two ways of applying merges against a slow and obvious third.
#include "text/merges.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace tempo9::text {
namespace {

std::vector<TokenId> apply_slowly(const MergeTable& table, std::vector<TokenId> symbols) {
  for (;;) {
    std::optional<size_t> best;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto* merge = table.find(symbols[i], symbols[i + 1]);
      if (merge == nullptr) continue;
      if (!best || merge->rank < table.find(symbols[*best], symbols[*best + 1])->rank) best = i;
    }
    if (!best) return symbols;
    symbols[*best] = table.find(symbols[*best], symbols[*best + 1])->token;
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(*best) + 1);
  }
}

// Merges of random tokens; some share a rank, as equal scores do.
MergeTable make_random_table(std::mt19937& random, TokenId letters, int merges) {
  MergeTable table(static_cast<size_t>(merges));
  for (TokenId made = 0; made < merges; ++made) {
    const auto below = [&](TokenId limit) {
      return static_cast<TokenId>(random() % static_cast<unsigned>(limit));
    };
    const TokenId known = letters + made;
    table.add(below(known), below(known), {static_cast<uint32_t>(random() % 40), known});
  }
  return table;
}

TEST(Merges, LowestRankThenLeftmost) {
  MergeTable table(3);
  table.add(1, 1, {7, 10});
  table.add(1, 2, {5, 11});
  std::vector<TokenId> symbols = {1, 1, 1, 2};
  table.apply(symbols);
  EXPECT_EQ(symbols, (std::vector<TokenId>{10, 11}));
  symbols = {1, 1, 1};
  table.apply(symbols);
  EXPECT_EQ(symbols, (std::vector<TokenId>{10, 1}));
}

TEST(Merges, TheFirstMergeOfAPairStays) {
  MergeTable table(2);
  table.add(1, 2, {5, 10});
  table.add(1, 2, {3, 11});
  ASSERT_NE(table.find(1, 2), nullptr);
  EXPECT_EQ(table.find(1, 2)->token, 10);
  EXPECT_EQ(table.find(2, 1), nullptr);
}

TEST(Merges, AgreeWithTheDefinitionAtEveryLength) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const TokenId letters = 2 + static_cast<TokenId>(random() % 4);
    const MergeTable table = make_random_table(random, letters, 30);
    for (const size_t length : {0, 1, 2, 3, 5, 8, 31, 32, 33, 34, 60, 150}) {
      std::vector<TokenId> symbols(length);
      for (TokenId& symbol : symbols)
        symbol = static_cast<TokenId>(random() % static_cast<unsigned>(letters));
      const std::vector<TokenId> expected = apply_slowly(table, symbols);
      table.apply(symbols);
      ASSERT_EQ(symbols, expected) << "round " << round << ", length " << length;
    }
  }
}

}  // namespace
}  // namespace tempo9::text
