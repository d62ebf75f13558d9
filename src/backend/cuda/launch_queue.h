// Launches that wait to be given to a stream together. A model's steps repeat the same launches with the same
// arguments, so what was seen before is replayed as a graph: one call of the driver instead of hundreds.
// Each kernel may start while the one before it ends (programmatic dependent launch); it waits before it
// touches memory (dialect/cuda.h).
#pragma once
#include <cstddef>
#include <list>
#include <unordered_map>
#include <vector>

#include "backend/cuda/cuda_api.h"
#include "backend/gpu/launcher.h"

namespace tempo9::backend::cuda {

class LaunchQueue {
 public:
  // `early`: whether the GPU knows programmatic dependent launch, which compute capability 9.0 brought.
  // `warp_groups`: whether it is 9.0 itself, whose instructions others lack.
  LaunchQueue(bool early, bool warp_groups) : early_(early), warp_groups_(warp_groups) {}
  ~LaunchQueue();
  LaunchQueue(const LaunchQueue&) = delete;
  LaunchQueue& operator=(const LaunchQueue&) = delete;

  // `kernel` as the runtime knows it; `args` are copied; `shared` bytes of memory are given to each block;
  // `beside`: it needs nothing that the last launch writes, nor writes what that reads (follow.h).
  void add(const void* kernel, uint32_t threads, gpu::LaunchGrid grid, const void* args, size_t bytes,
           uint32_t shared = 0, bool beside = false);
  template <class Args>
  void add(const void* kernel, uint32_t threads, gpu::LaunchGrid grid, Args args, uint32_t shared = 0,
           bool beside = false) {
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&args);  // equal launches shall be equal bytes
#endif
    add(kernel, threads, grid, &args, sizeof(args), shared, beside);
  }
  // Whether what was added should be flushed, although more will follow: the GPU shall begin with the first
  // of a step's launches while the host finds the last. The pieces of a step are the same every time.
  bool has_piece() const;
  bool warp_groups() const {
    return warp_groups_;
  }
  // Gives what was added to the stream.
  Status flush(cudaStream_t stream);
  // The launches that follow are a new step's.
  void begin_step() {
    piece_ = kFirstPiece;
  }

 private:
  struct Launch {
    const void* kernel;
    uint32_t threads;
    gpu::LaunchGrid grid;
    uint32_t args;  // place in Batch::args
    uint32_t shared;
    uint32_t how;  // of follow.h
  };
  struct Batch {
    std::vector<Launch> launches;
    std::vector<std::byte> args;
    bool operator==(const Batch& other) const;
    uint64_t hash() const;
  };
  // A batch that was seen; its graph exists from the second time on.
  struct Seen {
    Batch batch;
    uint64_t hash = 0;
    cudaGraphExec_t graph = nullptr;
  };

  static constexpr size_t kFirstPiece = 32, kLargestPiece = 512;

  Status prepare(const Launch& launch);
  Status launch_all(const Batch& batch, cudaStream_t stream);
  Result<cudaGraphExec_t> capture(const Batch& batch, cudaStream_t stream);
  Seen* find(uint64_t hash);
  void remember(uint64_t hash);

  const bool early_, warp_groups_;
  Batch batch_;
  size_t piece_ = kFirstPiece;                             // as many launches as the next piece has
  std::unordered_map<const void*, uint32_t> most_shared_;  // of each kernel that was launched
  std::list<Seen> seen_;                                   // what was used last comes first
  std::unordered_map<uint64_t, std::list<Seen>::iterator> by_hash_;
};

}  // namespace tempo9::backend::cuda
