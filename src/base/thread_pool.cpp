#include "base/thread_pool.h"

#include <algorithm>
#include <chrono>

namespace tempo9 {
namespace {

// How long a thread looks for what it waits for before it sleeps. Long enough for the gaps between the
// operations of a step; a sleeping worker costs its caller a system call and comes about 50 us later.
constexpr std::chrono::microseconds kPatience{30};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks until `is_there()` or for kPatience; returns whether it is there.
template <class Condition>
bool look_for(Condition is_there) {
  for (int i = 0; i < 16; ++i) {
    if (is_there()) return true;
    relax();
  }
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < 8; ++i) {
      if (is_there()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

void WorkItems::finish() {
  if (done_.fetch_add(1) + 1 == count_) done_.notify_all();
}

void WorkItems::wait() {
  const auto all_done = [this] { return done_.load(std::memory_order_acquire) == count_; };
  if (look_for(all_done)) return;
  for (int done; (done = done_.load(std::memory_order_acquire)) != count_;) done_.wait(done);
}

ThreadPool::ThreadPool(int threads) {
  const int count = std::clamp(threads, 1, kMaxThreads);
  workers_.reserve(static_cast<size_t>(count - 1));
  for (int thread = 1; thread < count; ++thread) workers_.emplace_back([this, thread] { work(thread); });
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  state_.fetch_add(kNext);
  state_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::start(Call call, void* context) {
  call_ = call;
  context_ = context;
  const uint32_t number = state_.load(std::memory_order_relaxed) & kNumber;
  state_.store((number + kNext) | kOpen);
  state_.notify_all();
}

// Closes the job and waits for the workers that have joined it.
void ThreadPool::finish() {
  const uint32_t state = state_.fetch_and(~kOpen);
  if ((state & kInside) == 0) return;
  const uint32_t number = state & kNumber;
  const auto all_left = [&] { return left_.load(std::memory_order_acquire) == number; };
  if (look_for(all_left)) return;
  for (uint32_t last; (last = left_.load(std::memory_order_acquire)) != number;) left_.wait(last);
}

void ThreadPool::work(int thread) {
  uint32_t seen = 0;
  for (;;) {
    const auto is_new = [&] { return (state_.load(std::memory_order_acquire) & kNumber) != seen; };
    if (!look_for(is_new)) {
      for (uint32_t state; ((state = state_.load(std::memory_order_acquire)) & kNumber) == seen;)
        state_.wait(state);
    }
    const uint32_t state = state_.load(std::memory_order_acquire);
    if (stop_) return;  // after that load: a number that it has seen is not waited for again
    seen = state & kNumber;
    if (!join_job(state)) continue;
    call_(context_, thread);
    leave_job();
  }
}

// Joins job number (state & kNumber) if it may still be joined.
bool ThreadPool::join_job(uint32_t state) {
  const uint32_t number = state & kNumber;
  while ((state & kOpen) != 0 && (state & kNumber) == number)
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire))
      return true;
  return false;
}

void ThreadPool::leave_job() {
  const uint32_t state = state_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if ((state & (kOpen | kInside)) != 0) return;
  left_.store(state & kNumber);
  left_.notify_all();
}

}  // namespace tempo9
