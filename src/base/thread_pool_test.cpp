#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <numeric>
#include <vector>

namespace tempo9 {
namespace {

TEST(ThreadPool, EachItemRunsOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int items : {0, 1, 2, 7, 1000}) {
      std::vector<int> runs(static_cast<size_t>(items), 0);
      pool.for_each(items, [&](int item, int thread) {
        ASSERT_TRUE(thread >= 0 && thread < threads);
        ++runs[static_cast<size_t>(item)];
      });
      EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
    }
  }
}

TEST(ThreadPool, ThreadNumbersAreNeverSharedInsideAJob) {
  ThreadPool pool(4);
  for (int job = 0; job < 200; ++job) {
    std::vector<int> calls(4, 0);
    pool.run([&](int thread) { ++calls[static_cast<size_t>(thread)]; });
    EXPECT_EQ(calls[0], 1);
    for (int thread = 1; thread < 4; ++thread) EXPECT_LE(calls[static_cast<size_t>(thread)], 1);
  }
}

// The second phase reads what any thread wrote in the first.
TEST(ThreadPool, WaitOrdersThePhasesOfAJob) {
  ThreadPool pool(3);
  for (int job = 0; job < 2000; ++job) {
    constexpr int kItems = 9;
    std::vector<int> first(kItems, 0), second(kItems, 0);
    WorkItems writes(kItems), reads(kItems);
    pool.run([&](int) {
      for (int i; (i = writes.take()) >= 0; writes.finish()) first[static_cast<size_t>(i)] = job + i;
      writes.wait();
      for (int i; (i = reads.take()) >= 0;)
        second[static_cast<size_t>(i)] = std::accumulate(first.begin(), first.end(), 0);
    });
    EXPECT_EQ(second, std::vector<int>(kItems, kItems * job + kItems * (kItems - 1) / 2));
  }
}

TEST(ThreadPool, JobsWorkAfterTheWorkersHaveFallenAsleep) {
  ThreadPool pool(3);
  for (int job = 0; job < 20; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> sum{0};
    pool.for_each(50, [&](int item, int) { sum += item; });
    EXPECT_EQ(sum, 50 * 49 / 2);
  }
}

// A worker that is inside must be waited for, however long it takes.
TEST(ThreadPool, RunReturnsAfterTheSlowestWorkerThatCame) {
  ThreadPool pool(2);
  std::atomic<bool> came{false}, finished{false};
  pool.run([&](int thread) {
    if (thread == 0) {
      while (!came) std::this_thread::yield();
      return;
    }
    came = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    finished = true;
  });
  EXPECT_TRUE(finished);
}

// Processor time of this process, all threads together, as a part of the time that passes.
template <class Body>
double processor_share(Body body) {
  const std::clock_t before = std::clock();
  const auto start = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / passed.count();
}

// One worker that never slept would use the whole of it.
TEST(ThreadPool, AnIdlePoolUsesNoProcessor) {
  ThreadPool pool(4);
  pool.for_each(100, [](int, int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LT(processor_share([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }), 0.05);
}

// Steps that come every few milliseconds: workers look for the next job for some dozen microseconds after
// each.
TEST(ThreadPool, BetweenJobsWorkersSoonSleep) {
  ThreadPool pool(4);
  const double share = processor_share([&] {
    for (int job = 0; job < 40; ++job) {
      pool.for_each(100, [](int, int) {});
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  EXPECT_LT(share, 0.3);
}

TEST(ThreadPool, PoolsComeAndGo) {
  for (int i = 0; i < 1000; ++i) {  // a worker may just be waking when its pool ends
    ThreadPool pool(3);
    if (i % 2 == 0) pool.for_each(3, [](int, int) {});
  }
}

}  // namespace
}  // namespace tempo9
