#include "backend/cuda/launch_queue.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "backend/cuda/tensor/follow.h"

namespace tempo9::backend::cuda {

namespace {

// Fewer cost less than a graph.
constexpr size_t kLeastGraph = 8;
// Batches that are remembered: a server's steps differ by their number of rows and, now and then, by how far
// attention is divided.
constexpr size_t kMostSeen = 128;

constexpr size_t round_up(size_t bytes) {
  return (bytes + 15) / 16 * 16;
}

uint64_t hash_bytes(const void* data, size_t bytes) {
  return std::hash<std::string_view>()(std::string_view(static_cast<const char*>(data), bytes));
}

}  // namespace

bool LaunchQueue::Batch::operator==(const Batch& other) const {
  if (launches.size() != other.launches.size() || args != other.args) return false;
  for (size_t i = 0; i < launches.size(); ++i) {
    const Launch &a = launches[i], &b = other.launches[i];
    if (a.kernel != b.kernel || a.threads != b.threads || a.grid.x != b.grid.x || a.grid.y != b.grid.y ||
        a.how != b.how)
      return false;
  }
  return true;
}

uint64_t LaunchQueue::Batch::hash() const {
  uint64_t hash = hash_bytes(args.data(), args.size());
  for (const Launch& launch : launches) {
    const uint64_t shape = reinterpret_cast<uint64_t>(launch.kernel) << 24 ^
                           static_cast<uint64_t>(launch.grid.y) << 32 ^ launch.grid.x ^
                           static_cast<uint64_t>(launch.how) << 48;
    hash = (hash ^ shape) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

LaunchQueue::~LaunchQueue() {
  for (const Seen& seen : seen_)
    if (seen.graph != nullptr) cudaGraphExecDestroy(seen.graph);
}

bool LaunchQueue::has_piece() const {
  return batch_.launches.size() >= piece_;
}

void LaunchQueue::add(const void* kernel, uint32_t threads, gpu::LaunchGrid grid, const void* args,
                      size_t bytes, uint32_t shared, bool beside) {
  const size_t place = batch_.args.size();
  batch_.args.resize(place + round_up(bytes));
  std::memcpy(batch_.args.data() + place, args, bytes);
  beside = beside && !batch_.launches.empty();
  if (beside) batch_.launches.back().how |= kLetsBeside;
  batch_.launches.push_back(
      {kernel, threads, grid, static_cast<uint32_t>(place), shared, beside ? kRunsBeside : 0u});
}

// Before the first launch of a kernel with so much shared memory.
Status LaunchQueue::prepare(const Launch& launch) {
  constexpr uint32_t kFreeShared = 48 << 10;  // more has to be asked for
  uint32_t& known = most_shared_.try_emplace(launch.kernel, kFreeShared).first->second;
  if (launch.shared <= known) return {};
  known = launch.shared;
  return check(cudaFuncSetAttribute(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(launch.shared)),
               "asking for shared memory");
}

Status LaunchQueue::launch_all(const Batch& batch, cudaStream_t stream) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  for (const Launch& launch : batch.launches) {
    cudaLaunchConfig_t config{};
    config.gridDim = {launch.grid.x, launch.grid.y, 1};
    config.blockDim = {launch.threads, 1, 1};
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = early_ ? 1 : 0;
    config.dynamicSmemBytes = launch.shared;
    TRY(prepare(launch));
    uint32_t how = launch.how;
    void* parameters[] = {const_cast<std::byte*>(batch.args.data() + launch.args), &how};
    TRY(check(cudaLaunchKernelExC(&config, launch.kernel, parameters), "starting a kernel"));
  }
  return {};
}

Result<cudaGraphExec_t> LaunchQueue::capture(const Batch& batch, cudaStream_t stream) {
  TRY(check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph"));
  const Status launched = launch_all(batch, stream);
  cudaGraph_t graph = nullptr;
  const Status ended = check(cudaStreamEndCapture(stream, &graph), "recording a graph");
  cudaGraphExec_t made = nullptr;
  Status built;
  if (launched && ended) built = check(cudaGraphInstantiate(&made, graph, 0), "making a graph");
  if (graph != nullptr) cudaGraphDestroy(graph);
  TRY(launched);
  TRY(ended);
  TRY(built);
  return made;
}

LaunchQueue::Seen* LaunchQueue::find(uint64_t hash) {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return nullptr;
  seen_.splice(seen_.begin(), seen_, found->second);
  return &seen_.front();
}

// In place of what it may have the hash of.
void LaunchQueue::remember(uint64_t hash) {
  if (Seen* old = find(hash)) {
    if (old->graph != nullptr) cudaGraphExecDestroy(old->graph);
    old->graph = nullptr;
    old->batch = batch_;
    return;
  }
  if (seen_.size() >= kMostSeen) {
    if (seen_.back().graph != nullptr) cudaGraphExecDestroy(seen_.back().graph);
    by_hash_.erase(seen_.back().hash);
    seen_.pop_back();
  }
  seen_.push_front({batch_, hash, nullptr});
  by_hash_[hash] = seen_.begin();
}

Status LaunchQueue::flush(cudaStream_t stream) {
  if (batch_.launches.empty()) return {};
  piece_ = std::min(4 * piece_, kLargestPiece);
  Status done;
  if (batch_.launches.size() < kLeastGraph) {
    done = launch_all(batch_, stream);
  } else {
    const uint64_t hash = batch_.hash();
    Seen* seen = find(hash);
    if (seen == nullptr || !(seen->batch == batch_)) {
      done = launch_all(batch_, stream);
      remember(hash);
    } else {
      if (seen->graph == nullptr) {
        auto made = capture(batch_, stream);
        if (made)
          seen->graph = *made;
        else
          done = tl::unexpected<Error>(made.error());
      }
      if (seen->graph != nullptr) done = check(cudaGraphLaunch(seen->graph, stream), "starting a graph");
    }
  }
  batch_.launches.clear();
  batch_.args.clear();
  return done;
}

}  // namespace tempo9::backend::cuda
