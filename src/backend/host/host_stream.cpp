#include "backend/host/host_stream.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace tempo9::backend {
namespace {

// A step of the largest models is some thousand operations; beyond that submit() waits.
constexpr size_t kRingTasks = 8192;
// Memory of an upload: most are of a few rows, and those that grow a little each step shall grow it seldom.
constexpr size_t kLeastPayload = 4096;

// Calls f(host address, byte count) for each row of a view.
template <class F>
void for_each_row(const View& view, F f) {
  for (int r = 0; r < view.rows; ++r)
    f(reinterpret_cast<std::byte*>(row_pointer<float>(view, r)),
      static_cast<size_t>(view.columns) * sizeof(float));
}

}  // namespace

HostStream::HostStream(HostKernels& kernels, std::mutex& turn, HostPolicy policy)
    : kernels_(kernels), turn_(turn), policy_(policy), ring_(kRingTasks), worker_([this] { work(); }) {}

HostStream::~HostStream() {
  next_place().kind = Kind::kStop;
  publish();
  release_until(submitted_.load(std::memory_order_relaxed));
  worker_.join();
}

HostStream::Task& HostStream::next_place() {
  const uint64_t number = submitted_.load(std::memory_order_relaxed);
  if (number >= ring_.size()) {  // the place is free once the task that was in it has run
    const uint64_t earlier = number - ring_.size() + 1;
    release_until(earlier);
    wait(Event{earlier});
  }
  return ring_[number % ring_.size()];
}

void HostStream::publish() {
  const uint64_t number = submitted_.load(std::memory_order_relaxed) + 1;
  submitted_.store(number, std::memory_order_release);
  if (policy_ == HostPolicy::kPrompt) release_until(number);
}

void HostStream::release_until(uint64_t number) {
  uint64_t released = released_.load(std::memory_order_relaxed);
  while (released < number && !released_.compare_exchange_weak(released, number, std::memory_order_release)) {
  }
  released_.notify_one();
}

void HostStream::submit(const Op& op) {
  Task& task = next_place();
  task.kind = Kind::kOp;
  task.op = op;
  publish();
}

void HostStream::upload(const View& target, std::span<const std::byte> source) {
  CHECK(source.size() ==
        static_cast<size_t>(target.rows) * static_cast<size_t>(target.columns) * sizeof(float));
  Payload& payload = payloads_[uploads_++ % payloads_.size()];
  wait(payload.upload);
  payload.bytes.reserve(std::max(kLeastPayload, std::bit_ceil(source.size())));
  payload.bytes.assign(source.begin(), source.end());
  Task& task = next_place();
  task.kind = Kind::kUpload;
  task.view = target;
  task.source = payload.bytes;
  publish();
  payload.upload = record();
}

void HostStream::download(std::span<std::byte> target, const View& source) {
  CHECK(target.size() ==
        static_cast<size_t>(source.rows) * static_cast<size_t>(source.columns) * sizeof(float));
  if (policy_ == HostPolicy::kLate) std::memset(target.data(), 0xff, target.size());
  Task& task = next_place();
  task.kind = Kind::kDownload;
  task.view = source;
  task.target = target;
  publish();
}

void HostStream::wait(Event event) {
  release_until(event.number);
  if (reached(event)) return;
  std::unique_lock lock(waiting_);
  for (;;) {
    if (event.number < awaited_) awaited_ = event.number;
    // After awaited_: either this load sees the task done, or the worker sees that it is awaited.
    if (completed_.load() >= event.number) return;
    reached_.wait(lock);
  }
}

// Everybody who waits is woken, and says again what for if that is yet to come.
void HostStream::complete(uint64_t number) {
  completed_.store(number);
  if (number < awaited_.load()) return;
  {
    const std::lock_guard lock(waiting_);
    awaited_ = kNobody;
  }
  reached_.notify_all();
}

void HostStream::wait_for(Stream& other, Event event) {
  Task& task = next_place();
  task.kind = Kind::kWaitFor;
  task.other = static_cast<HostStream*>(&other);
  task.event = event;
  publish();
}

Status HostStream::synchronize() {
  wait(record());
  return {};
}

void HostStream::work() {
  for (uint64_t number = 0;; ++number) {
    for (uint64_t released; (released = released_.load(std::memory_order_acquire)) <= number;)
      released_.wait(released, std::memory_order_acquire);
    Task& task = ring_[number % ring_.size()];
    const bool stop = task.kind == Kind::kStop;
    if (!stop) run(task);
    complete(number + 1);
    if (stop) return;
  }
}

void HostStream::run(Task& task) {
  switch (task.kind) {
    case Kind::kOp: {
      const std::lock_guard lock(turn_);
      kernels_.run_and_count(task.op);
      break;
    }
    case Kind::kUpload: {
      const std::byte* from = task.source.data();
      for_each_row(task.view,
                   [&](std::byte* row, size_t bytes) { std::memcpy(row, from, bytes), from += bytes; });
      break;
    }
    case Kind::kDownload: {
      std::byte* to = task.target.data();
      for_each_row(task.view,
                   [&](std::byte* row, size_t bytes) { std::memcpy(to, row, bytes), to += bytes; });
      break;
    }
    case Kind::kWaitFor:
      task.other->wait(task.event);
      break;
    case Kind::kStop:
      break;
  }
}

}  // namespace tempo9::backend
