#include "server/api/response_store.h"

#include <gtest/gtest.h>

namespace tempo9::server {
namespace {

StoredResponse of_size(size_t bytes) {
  return {std::string(bytes, 'x'), "", ""};
}

TEST(ResponseStore, GivesBackWhatWasPut) {
  ResponseStore store(1 << 20);
  store.put("a", {"r", "i", "o"});
  EXPECT_EQ(store.find("a")->input, "i");
  EXPECT_FALSE(store.find("b"));
  store.put("a", {"again", "", ""});
  EXPECT_EQ(store.find("a")->response, "again");
  EXPECT_TRUE(store.erase("a"));
  EXPECT_FALSE(store.erase("a"));
  EXPECT_EQ(store.bytes(), 0u);
}

TEST(ResponseStore, TheLeastRecentlyUsedGoFirst) {
  ResponseStore store(40'000);
  for (const char* id : {"a", "b", "c"}) store.put(id, of_size(10'000));
  store.find("a");
  store.put("d", of_size(10'000));
  EXPECT_FALSE(store.find("b"));
  for (const char* id : {"a", "c", "d"}) EXPECT_TRUE(store.find(id)) << id;
  EXPECT_LE(store.bytes(), 40'000u);
}

TEST(ResponseStore, NeverExceedsItsBound) {
  ResponseStore store(10'000);
  store.put("small", of_size(100));
  store.put("large", of_size(10'000));  // with what an entry takes, more than there may be
  EXPECT_FALSE(store.find("large"));
  EXPECT_TRUE(store.find("small"));
  for (int i = 0; i < 1000; ++i) {
    store.put(std::to_string(i), {});
    ASSERT_LE(store.bytes(), 10'000u);
  }
}

}  // namespace
}  // namespace tempo9::server
