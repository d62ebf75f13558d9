// A bounded queue of work and the thread that runs it, in order. One producer.
#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/host/host_device.h"

namespace tempo9::backend {

class HostStream final : public Stream {
 public:
  // `kernels` run one call at a time; `turn` is the lock that streams of one device share for that.
  HostStream(HostKernels& kernels, std::mutex& turn, HostPolicy policy);
  ~HostStream() override;

  void submit(const Op& op) override;
  void upload(const View& target, std::span<const std::byte> source) override;
  void download(std::span<std::byte> target, const View& source) override;
  Event record() override { return Event{submitted_.load(std::memory_order_relaxed)}; }
  bool reached(Event event) const override {
    return completed_.load(std::memory_order_acquire) >= event.number;
  }
  void wait(Event event) override;
  void wait_for(Stream& other, Event event) override;
  Status synchronize() override;

 private:
  enum class Kind : uint8_t { kOp, kUpload, kDownload, kWaitFor, kStop };
  // One place of the ring.
  struct Task {
    Kind kind = Kind::kStop;
    Op op;
    View view;
    std::span<const std::byte> source;
    std::span<std::byte> target;
    HostStream* other = nullptr;
    Event event;
  };
  // What an upload copies, until it has run. Kept and used in turn, so that steps allocate nothing once these
  // have grown to their arrays; an upload waits for the one whose place it takes.
  struct Payload {
    std::vector<std::byte> bytes;
    Event upload;
  };
  static constexpr size_t kPayloads = 64;

  Task& next_place();
  void publish();
  void release_until(uint64_t number);
  void work();
  void run(Task& task);
  void complete(uint64_t number);

  HostKernels& kernels_;
  std::mutex& turn_;
  const HostPolicy policy_;
  std::vector<Task> ring_;
  std::array<Payload, kPayloads> payloads_;
  uint64_t uploads_ = 0;
  std::atomic<uint64_t> submitted_{0};  // tasks in the ring so far
  std::atomic<uint64_t> released_{0};   // tasks the worker may start
  std::atomic<uint64_t> completed_{0};
  // The least number that somebody waits for. The worker wakes nobody before that: waking for each task would
  // cost more than a small operation.
  static constexpr uint64_t kNobody = UINT64_MAX;
  std::atomic<uint64_t> awaited_{kNobody};
  std::mutex waiting_;  // held to change awaited_ and to begin to wait
  std::condition_variable reached_;
  std::thread worker_;
};

}  // namespace tempo9::backend
