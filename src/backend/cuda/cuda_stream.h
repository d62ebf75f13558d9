// A stream of one GPU. Uploads and downloads go through pinned memory, so that neither waits.
#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "backend/cuda/cuda_weight.h"
#include "backend/cuda/launch_queue.h"
#include "backend/cuda/pinned.h"
#include "backend/gpu/launcher.h"

namespace tempo9::backend::cuda {

// What all streams of a device have done.
struct Work {
  bool tensor_cores = true, timed = false;  // Variant
  std::atomic<uint64_t> operations{0};
  std::array<std::atomic<uint64_t>, kOpKinds> nanoseconds{};
  std::atomic<size_t> scratch_bytes{0};
  // A uint64_t. Exact as long as one stream at a time works with stacks of matrices.
  std::unique_ptr<CudaBuffer> matrices_read;
};

class CudaStream final : public Stream, private gpu::Launcher {
 public:
  // Both outlive the stream.
  static Result<std::unique_ptr<CudaStream>> create(CudaMemory& memory, Work& work);
  ~CudaStream() override;

  void submit(const Op& op) override;
  void upload(const View& target, std::span<const std::byte> source) override;
  void download(std::span<std::byte> target, const View& source) override;
  Event record() override;
  bool reached(Event event) const override;
  void wait(Event event) override;
  void wait_for(Stream& other, Event event) override;
  Status synchronize() override;

 private:
  // What an upload copies, until it has run; used in turn.
  struct Payload {
    PinnedMemory memory;
    Event upload;
  };
  struct Download {
    std::span<std::byte> target;
    PinnedMemory memory;
    uint64_t event;  // the first event that follows it
  };
  struct Recorded {
    uint64_t number;
    cudaEvent_t event;
  };
  // An operation whose time is not known yet.
  struct Timed {
    size_t kind;
    cudaEvent_t begin, end;
  };
  static constexpr size_t kPayloads = 64;
  static constexpr size_t kMostHeld = 4;

  CudaStream(CudaMemory& memory, Work& work, int major, int minor)
      : memory_(memory), work_(work), queue_(major >= 9, major == 9 && minor == 0) {}
  void note(const Status& status);
  void run_held();
  void flush();
  void run(const Op& op);
  cudaEvent_t mark_time();
  void read_times();
  cudaEvent_t find(Event event) const;
  cudaEvent_t take_event();
  void finish_downloads(uint64_t event);
  PinnedMemory take_pinned(size_t bytes);

  std::byte* address(const Buffer& buffer) const override {
    return static_cast<const CudaBuffer&>(buffer).address();
  }
  const std::byte* rows(const Weight& weight) const override;
  const void* slabs(const SlabTable& table) const override {
    return static_cast<const CudaSlabTable&>(table).address();
  }
  std::byte* matrices_read() override { return work_.matrices_read->address(); }
  std::byte* scratch(size_t bytes) override;
  void run_beside() override { beside_ = true; }
  void launch(gpu::KernelId kernel, gpu::LaunchGrid grid, const void* args, size_t bytes) override;

  CudaMemory& memory_;
  Work& work_;
  cudaStream_t stream_ = nullptr;
  LaunchQueue queue_;
  Status status_;  // the first error since the last synchronize()
  std::unique_ptr<CudaBuffer> scratch_;
  std::vector<std::unique_ptr<CudaBuffer>> outgrown_;  // scratch that work in flight may still use
  std::array<Payload, kPayloads> payloads_;
  uint64_t uploads_ = 0, recorded_ = 0;
  std::vector<Download> downloads_;
  std::vector<PinnedMemory> spare_pinned_;
  std::deque<Recorded> events_;
  std::vector<cudaEvent_t> spare_events_;
  std::vector<Timed> timed_;
  bool beside_ = false;                // the next launch may run beside the last
  std::optional<ExpertLinear> alone_;  // the last operation, if it used no scratch memory
  std::vector<Op> held_;               // of heads.h: until what follows is known
};

}  // namespace tempo9::backend::cuda
