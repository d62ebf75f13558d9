// Threads for short jobs that follow each other closely, as the operations of a step do.
//
// A job is started in about a microsecond while the workers are awake; they look for the next one for a few
// dozen microseconds and then sleep, so an idle pool costs nothing. A worker that comes late (it slept, or
// the system gave its core to somebody else) is not waited for: work is handed out item by item, whoever is
// there takes it, and run() returns when those who came have finished.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace tempo9 {

// Items 0 .. count-1 of one phase of a job, each taken by one thread. Lives as long as the job.
class WorkItems {
 public:
  explicit WorkItems(int count) : count_(count) {}
  int count() const { return count_; }
  // The next item, or -1 when all are taken.
  int take() {
    const int item = next_.fetch_add(1, std::memory_order_relaxed);
    return item < count_ ? item : -1;
  }
  // Says that a taken item is done. What was written before is seen by threads whose wait() has returned.
  void finish();
  // Returns when all items are done. Call it only after take() gave -1.
  void wait();

 private:
  const int count_;
  alignas(64) std::atomic<int> next_{0};
  alignas(64) std::atomic<int> done_{0};
};

// Threads: run() and for_each() from one thread at a time, and not from inside a job. No allocation per job.
class ThreadPool {
 public:
  static constexpr int kMaxThreads = 512;

  // `threads` includes the thread that calls run(); clamped to 1 .. kMaxThreads.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(thread), 0 <= thread < threads(), on the caller (thread 0) and on every worker that comes
  // while the caller is still in its own. The body takes its share from WorkItems and must be able to do
  // everything alone.
  template <class Body>
  void run(Body&& body) {
    using Target = std::remove_reference_t<Body>;
    if (workers_.empty()) {
      body(0);
      return;
    }
    start([](void* context, int thread) { (*static_cast<Target*>(context))(thread); },
          const_cast<void*>(static_cast<const void*>(&body)));
    body(0);
    finish();
  }

  // Calls body(item, thread) once for each item; the threads share them. One item stays on the caller.
  template <class Body>
  void for_each(int items, Body&& body) {
    if (items <= 1 || workers_.empty()) {
      for (int item = 0; item < items; ++item) body(item, 0);
      return;
    }
    WorkItems work(items);
    run([&](int thread) {
      for (int item; (item = work.take()) >= 0;) body(item, thread);
    });
  }

 private:
  using Call = void (*)(void* context, int thread);
  // One word says everything about the current job, so that joining it is one compare-and-swap:
  //   bits 0-9 how many workers are inside; bit 10 whether it may still be joined; the rest its number.
  static constexpr uint32_t kInside = (1u << 10) - 1;
  static constexpr uint32_t kOpen = 1u << 10;
  static constexpr uint32_t kNumber = ~(kInside | kOpen);
  static constexpr uint32_t kNext = 1u << 11;

  void start(Call call, void* context);
  void finish();
  void work(int thread);
  bool join_job(uint32_t state);
  void leave_job();

  Call call_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<uint32_t> state_{0};
  alignas(64) std::atomic<uint32_t> left_{0};  // the number of the last job that its last worker has left
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace tempo9
