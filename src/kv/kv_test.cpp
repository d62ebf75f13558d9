#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/limits.h"
#include "kv/kv_cache.h"

namespace tempo9::kv {
namespace {

class CountingSource final : public SlabSource {
 public:
  Status allocate_slab(int group, int slab) override {
    if (fail_next) return fail(ErrorCode::kOutOfMemory, "no slab");
    EXPECT_TRUE(live.insert({group, slab}).second) << "slab " << slab << " allocated twice";
    return {};
  }
  void release_slab(int group, int slab) override { EXPECT_EQ(live.erase({group, slab}), 1u); }
  std::set<std::pair<int, int>> live;
  bool fail_next = false;
};

TEST(LayoutTest, LayersThatKeepTheSameShareAGroup) {
  const Layout layout =
      make_layout({{Keeps::kWindow, 512, 128}, {Keeps::kFull, 0, 64}, {Keeps::kWindow, 512, 128}});
  ASSERT_EQ(layout.groups.size(), 2u);
  EXPECT_EQ(layout.groups[0].page_bytes, 256u);
  EXPECT_EQ(layout.groups[1].page_bytes, 64u);
  EXPECT_EQ(layout.layers[2].group, 0);
  EXPECT_EQ(layout.layers[2].offset, 128u);
  EXPECT_EQ(layout.layers[1].offset, 0u);
}

PageId allocate(PagePool& pool) {
  if (!pool.has_room()) {
    EXPECT_TRUE(pool.add_slab().has_value());
  }
  return pool.allocate();
}

TEST(PagePoolTest, PagesAreDistinctAndSlabsGoBackWhenEmpty) {
  CountingSource source;
  PagePool pool(0, 4, 3, source);
  std::set<PageId> pages;
  for (int i = 0; i < 10; ++i) pages.insert(allocate(pool));
  EXPECT_EQ(pages.size(), 10u);
  EXPECT_EQ(source.live.size(), 3u);
  EXPECT_EQ(pool.touched(), 10);
  EXPECT_FALSE(pool.may_add_slab());
  for (const PageId page : pages) pool.release(page);
  EXPECT_EQ(pool.held(), 0);
  EXPECT_EQ(pool.touched(), 0);
  EXPECT_TRUE(source.live.empty());
}

TEST(PagePoolTest, APageLivesUntilItsLastReference) {
  CountingSource source;
  PagePool pool(0, 4, 1, source);
  const PageId page = allocate(pool);
  pool.add_reference(page);
  pool.release(page);
  EXPECT_EQ(pool.held(), 1);
  pool.release(page);
  EXPECT_EQ(pool.held(), 0);
}

TEST(PagePoolTest, CachedAreThePagesThatNobodyElseHolds) {
  CountingSource source;
  PagePool pool(0, 4, 1, source);
  const PageId page = allocate(pool);
  pool.cache(page);
  EXPECT_EQ(pool.cached(), 0);
  pool.release(page);
  EXPECT_EQ(pool.cached(), 1);
  pool.add_reference(page);
  EXPECT_EQ(pool.cached(), 0);
  pool.release(page);
  pool.release_cached(page);
  EXPECT_EQ(pool.cached(), 0);
  EXPECT_EQ(pool.held(), 0);
}

TEST(PagePoolTest, AFailingSlabIsAnErrorAndChangesNothing) {
  CountingSource source;
  source.fail_next = true;
  PagePool pool(0, 4, 1, source);
  EXPECT_FALSE(pool.add_slab().has_value());
  EXPECT_EQ(pool.slabs(), 0);
  source.fail_next = false;
  EXPECT_TRUE(pool.add_slab().has_value());
}

TEST(KvCacheTest, GrowthThatDoesNotFitLeavesTheSequenceAsItWas) {
  CountingSource source;
  const Layout layout = make_layout({{Keeps::kFull, 0, 1024}, {Keeps::kWindow, 64, 1024}});
  KvCache cache(layout, {.memory_bytes = 3 * 2048, .slab_bytes = 2048}, source);
  Sequence sequence = cache.empty_sequence();
  ASSERT_TRUE(cache.grow(sequence, 65).has_value());
  EXPECT_EQ(sequence.tables[0].size(), 2u);
  EXPECT_EQ(cache.grow(sequence, 64 * 4).error().code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(sequence.tables[0].size(), 2u);
  EXPECT_EQ(cache.counts().pages_used, 4);
  cache.release(sequence);
  EXPECT_EQ(cache.counts().pages_used, 0);
  EXPECT_TRUE(source.live.empty());
}

TEST(KvCacheTest, AWindowGivesBackWhatNoLaterRowCanSee) {
  CountingSource source;
  KvCache cache(make_layout({{Keeps::kWindow, 64, 64}, {Keeps::kFull, 0, 64}}),
                {.memory_bytes = 1 << 20, .slab_bytes = 4096}, source);
  Sequence sequence = cache.empty_sequence();
  ASSERT_TRUE(cache.grow(sequence, 256).has_value());
  cache.trim(sequence, 126);  // sees 63..126: page 0 holds 63
  EXPECT_NE(sequence.tables[0][0], kNoPage);
  cache.trim(sequence, 127);  // sees 64..127
  EXPECT_EQ(sequence.tables[0][0], kNoPage);
  EXPECT_NE(sequence.tables[0][1], kNoPage);
  EXPECT_NE(sequence.tables[1][0], kNoPage) << "full attention keeps everything";
  cache.release(sequence);
  EXPECT_EQ(cache.counts().pages_used, 0);
}

TEST(KvCacheTest, AStateIsOnePageHoweverLongTheSequence) {
  CountingSource source;
  KvCache cache(make_layout({{Keeps::kState, 0, 640}, {Keeps::kFull, 0, 64}}),
                {.memory_bytes = 2 * 640 + 64 * 64, .slab_bytes = 64}, source);
  EXPECT_EQ(cache.max_tokens(), (640 + 64 * 64) / 64 * 64) << "one state and the rest pages";
  Sequence a = cache.empty_sequence(), b = cache.empty_sequence(), c = cache.empty_sequence();
  ASSERT_TRUE(cache.grow(a, 1000).has_value());
  ASSERT_TRUE(cache.grow(a, 63 * 64).has_value());
  EXPECT_EQ(a.tables[0].size(), 1u);
  ASSERT_TRUE(cache.grow(b, 1).has_value());
  EXPECT_NE(a.tables[0][0], b.tables[0][0]);
  EXPECT_FALSE(cache.grow(c, 1).has_value());
  cache.release(a);
  EXPECT_TRUE(cache.grow(c, 1).has_value());
  cache.release(b);
  cache.release(c);
  EXPECT_EQ(cache.counts().pages_used, 0);
}

TEST(KvCacheTest, RandomSequencesNeverShareOrLosePages) {
  CountingSource source;
  KvCache cache(make_layout({{Keeps::kFull, 0, 64}, {Keeps::kWindow, 128, 192}}),
                {.memory_bytes = 64 * 256, .slab_bytes = 1024}, source);
  std::mt19937 random(7);
  std::vector<std::pair<Sequence, int>> live;
  for (int step = 0; step < 5000; ++step) {
    if (live.empty() || random() % 4 == 0) live.emplace_back(cache.empty_sequence(), 0);
    auto& [sequence, tokens] = live[random() % live.size()];
    const int more = tokens + static_cast<int>(random() % 150);
    if (cache.grow(sequence, more).has_value()) {
      tokens = more;
      cache.trim(sequence, tokens);
    } else {
      cache.release(sequence);
      tokens = 0;
    }
    int held = 0;
    std::set<std::pair<int, PageId>> seen;
    for (const auto& [other, unused] : live)
      for (size_t g = 0; g < 2; ++g)
        for (const PageId page : other.tables[g])
          if (page != kNoPage) ++held, seen.insert({static_cast<int>(g), page});
    ASSERT_EQ(held, cache.counts().pages_used);
    ASSERT_EQ(static_cast<size_t>(held), seen.size());
  }
  for (auto& [sequence, tokens] : live) cache.release(sequence);
  EXPECT_EQ(cache.counts().pages_used, 0);
  EXPECT_TRUE(source.live.empty());
}

}  // namespace
}  // namespace tempo9::kv
