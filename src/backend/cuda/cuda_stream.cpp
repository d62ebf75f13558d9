#include "backend/cuda/cuda_stream.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "backend/cuda/heads.h"
#include "backend/cuda/tensor/attend.h"
#include "backend/cuda/tensor/operation.h"
#include "backend/gpu/operations.h"
#include "base/check.h"

namespace tempo9::backend::cuda {

extern const void* const kKernelEntries[];  // kernels.cu

namespace {

constexpr uint32_t kGroupThreads = 128;  // of those kernels: the dialect's GROUP_THREADS

// Of a view's rows: how far apart they are, how long each is.
struct Rows {
  size_t pitch, width, count;
};

Rows rows_of(const View& view) {
  const auto columns = static_cast<size_t>(view.columns), rows = static_cast<size_t>(view.rows);
  if (rows <= 1 || view.stride == view.columns)
    return {rows * columns * sizeof(float), rows * columns * sizeof(float), 1};
  return {static_cast<size_t>(view.stride) * sizeof(float), columns * sizeof(float), rows};
}

bool overlap(const View& a, const View& b) {
  const auto end = [](const View& v) { return v.offset + rows_of(v).pitch * rows_of(v).count; };
  return a && b && a.buffer == b.buffer && a.offset < end(b) && b.offset < end(a);
}

// Whether neither touches what the other writes.
bool are_apart(const ExpertLinear& a, const Linear& b) {
  const auto in = [](const View& out, const auto& op) {
    return overlap(out, op.input.x) || overlap(out, op.input.gate) || overlap(out, op.input.norm_weight);
  };
  for (int i = 0; i < a.count; ++i) {
    const View& out = a.outputs[static_cast<size_t>(i)].out;
    if (in(out, b)) return false;
    for (int j = 0; j < b.count; ++j)
      if (overlap(out, b.outputs[static_cast<size_t>(j)].out)) return false;
  }
  for (int j = 0; j < b.count; ++j) {
    const View& out = b.outputs[static_cast<size_t>(j)].out;
    if (in(out, a) || overlap(out, a.indices)) return false;
  }
  return true;
}

// Logits of many rows are tens of megabytes: one thread would take longer than the GPU for the step.
void copy_on_threads(std::span<std::byte> target, const std::byte* source) {
  constexpr size_t kPiece = 1 << 20, kMostThreads = 8;
  const size_t threads = std::clamp<size_t>(target.size() / kPiece, 1, kMostThreads);
  const auto piece = [&](size_t i) { return target.size() * i / threads; };
  const auto copy = [&](size_t i) {
    std::memcpy(target.data() + piece(i), source + piece(i), piece(i + 1) - piece(i));
  };
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < threads; ++i) helpers.emplace_back(copy, i);
  copy(0);
}

}  // namespace

Result<std::unique_ptr<CudaStream>> CudaStream::create(CudaMemory& memory, Work& work) {
  memory.use();
  int device = 0, major = 0, minor = 0;
  TRY(check(cudaGetDevice(&device), "asking for the GPU"));
  TRY(check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
            "asking for the GPU's properties"));
  TRY(check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
            "asking for the GPU's properties"));
  std::unique_ptr<CudaStream> stream(new CudaStream(memory, work, major, minor));
  TRY(check(cudaStreamCreateWithFlags(&stream->stream_, cudaStreamNonBlocking), "making a stream"));
  return stream;
}

CudaStream::~CudaStream() {
  memory_.use();
  if (stream_ == nullptr) return;
  if (scratch_ != nullptr) work_.scratch_bytes.fetch_sub(scratch_->bytes(), std::memory_order_relaxed);
  cudaStreamSynchronize(stream_);
  for (const Recorded& recorded : events_) cudaEventDestroy(recorded.event);
  for (cudaEvent_t event : spare_events_) cudaEventDestroy(event);
  cudaStreamDestroy(stream_);
}

void CudaStream::note(const Status& status) {
  if (!status && status_) status_ = status;
}

void CudaStream::submit(const Op& op) {
  memory_.use();
  const cudaEvent_t begin = work_.timed ? mark_time() : nullptr;
  run(op);
  if (queue_.has_piece()) note(queue_.flush(stream_));
  if (work_.timed) timed_.push_back({op.index(), begin, mark_time()});
  work_.operations.fetch_add(1, std::memory_order_relaxed);
}

void CudaStream::run_held() {
  for (const Op& op : held_) gpu::run_operation(op, *this);
  held_.clear();
}

void CudaStream::flush() {
  run_held();
  note(queue_.flush(stream_));
  queue_.begin_step();
}

cudaEvent_t CudaStream::mark_time() {
  flush();
  cudaEvent_t event = nullptr;
  note(check(cudaEventCreate(&event), "making an event"));
  note(check(cudaEventRecord(event, stream_), "recording an event"));
  return event;
}

// Of operations that are over.
void CudaStream::read_times() {
  for (const Timed& timed : timed_) {
    float milliseconds = 0;
    note(check(cudaEventElapsedTime(&milliseconds, timed.begin, timed.end), "reading the time"));
    work_.nanoseconds[timed.kind].fetch_add(static_cast<uint64_t>(milliseconds * 1e6f),
                                            std::memory_order_relaxed);
    cudaEventDestroy(timed.begin);
    cudaEventDestroy(timed.end);
  }
  timed_.clear();
}

void CudaStream::run(const Op& op) {
  if (may_precede_kv_write(op)) {
    if (held_.size() == kMostHeld) run_held();
    held_.push_back(op);
    return;
  }
  const auto* write = std::get_if<KvWrite>(&op);
  if (write != nullptr && run_as_heads(held_, *write, *this, queue_)) {
    held_.clear();
    return;
  }
  run_held();
  const std::optional<ExpertLinear> last = std::exchange(alone_, std::nullopt);
  if (const auto* linear = std::get_if<Linear>(&op)) {
    const bool beside = last && prepares_itself(*linear) && are_apart(*last, *linear);
    const Linear rest = run_on_tensor_cores(*linear, *this, queue_, beside);
    if (rest.count == 0) return;
    beside_ = rest.count < linear->count && prepares_itself(*linear);
    gpu::run_operation(rest, *this);
  } else if (const auto* experts = std::get_if<ExpertLinear>(&op)) {
    const ExpertLinear rest = run_on_tensor_cores(*experts, *this, queue_);
    if (rest.count > 0)
      gpu::run_operation(rest, *this);
    else if (prepares_itself(*experts))
      alone_ = *experts;
  } else if (const auto* attention = std::get_if<Attention>(&op);
             attention == nullptr || !work_.tensor_cores ||
             !attend_on_tensor_cores(*attention, *this, queue_)) {
    gpu::run_operation(op, *this);
  }
}

void CudaStream::launch(gpu::KernelId kernel, gpu::LaunchGrid grid, const void* args, size_t bytes) {
  queue_.add(kKernelEntries[static_cast<size_t>(kernel)], kGroupThreads, grid, args, bytes, 0,
             std::exchange(beside_, false));
}

const std::byte* CudaStream::rows(const Weight& weight) const {
  const std::byte* address = static_cast<const CudaWeight&>(weight).rows_address();
  CHECK(address != nullptr);  // WeightSource said what the weight is for
  return address;
}

std::byte* CudaStream::scratch(size_t bytes) {
  const size_t held = scratch_ == nullptr ? 0 : scratch_->bytes();
  if (held < bytes) {
    auto larger = CudaBuffer::allocate(memory_, std::max(bytes, 2 * held));
    if (!larger) {
      note(tl::unexpected<Error>(larger.error()));
      return nullptr;
    }
    if (scratch_ != nullptr) outgrown_.push_back(std::move(scratch_));
    scratch_ = std::move(*larger);
    work_.scratch_bytes.fetch_add(scratch_->bytes() - held, std::memory_order_relaxed);
  }
  return scratch_->address();
}

void CudaStream::upload(const View& target, std::span<const std::byte> source) {
  CHECK(source.size() ==
        static_cast<size_t>(target.rows) * static_cast<size_t>(target.columns) * sizeof(float));
  if (source.empty()) return;
  memory_.use();
  Payload& payload = payloads_[uploads_++ % payloads_.size()];
  wait(payload.upload);
  if (auto reserved = payload.memory.reserve(source.size()); !reserved) return note(reserved);
  std::memcpy(payload.memory.data(), source.data(), source.size());
  flush();
  const Rows rows = rows_of(target);
  note(check(cudaMemcpy2DAsync(address(*target.buffer) + target.offset, rows.pitch, payload.memory.data(),
                               rows.width, rows.width, rows.count, cudaMemcpyHostToDevice, stream_),
             "copying to the GPU"));
  payload.upload = record();
}

PinnedMemory CudaStream::take_pinned(size_t bytes) {
  // The smallest that fits, or the largest, to grow.
  const auto better = [bytes](const PinnedMemory& a, const PinnedMemory& b) {
    const bool fits = a.bytes() >= bytes, other_fits = b.bytes() >= bytes;
    if (fits != other_fits) return fits;
    return fits ? a.bytes() < b.bytes() : a.bytes() > b.bytes();
  };
  const auto best = std::min_element(spare_pinned_.begin(), spare_pinned_.end(), better);
  if (best == spare_pinned_.end()) return {};
  std::swap(*best, spare_pinned_.back());
  PinnedMemory found = std::move(spare_pinned_.back());
  spare_pinned_.pop_back();
  return found;
}

void CudaStream::download(std::span<std::byte> target, const View& source) {
  CHECK(target.size() ==
        static_cast<size_t>(source.rows) * static_cast<size_t>(source.columns) * sizeof(float));
  if (target.empty()) return;
  memory_.use();
  flush();
  const Rows rows = rows_of(source);
  const auto copy = [&](std::byte* to) {
    note(check(cudaMemcpy2DAsync(to, rows.width, address(*source.buffer) + source.offset, rows.pitch,
                                 rows.width, rows.count, cudaMemcpyDeviceToHost, stream_),
               "copying from the GPU"));
  };
  if (is_pinned(target.data())) return copy(target.data());
  PinnedMemory memory = take_pinned(target.size());
  if (auto reserved = memory.reserve(target.size()); !reserved) return note(reserved);
  copy(memory.data());
  downloads_.push_back({target, std::move(memory), recorded_ + 1});
}

// Of downloads that are over by `event`.
void CudaStream::finish_downloads(uint64_t event) {
  for (Download& download : downloads_) {
    if (download.event > event) continue;
    copy_on_threads(download.target, download.memory.data());
    spare_pinned_.push_back(std::move(download.memory));
    download.target = {};
  }
  std::erase_if(downloads_, [](const Download& download) { return download.target.empty(); });
}

cudaEvent_t CudaStream::take_event() {
  while (!events_.empty() && cudaEventQuery(events_.front().event) == cudaSuccess) {
    spare_events_.push_back(events_.front().event);
    events_.pop_front();
  }
  cudaEvent_t event = nullptr;
  if (!spare_events_.empty()) {
    event = spare_events_.back();
    spare_events_.pop_back();
  } else {
    note(check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event"));
  }
  return event;
}

Event CudaStream::record() {
  memory_.use();
  flush();
  const cudaEvent_t event = take_event();
  note(check(cudaEventRecord(event, stream_), "recording an event"));
  events_.push_back({++recorded_, event});
  return Event{recorded_};
}

// Null if it was reached long ago.
cudaEvent_t CudaStream::find(Event event) const {
  if (events_.empty() || event.number < events_.front().number) return nullptr;
  return events_[event.number - events_.front().number].event;
}

bool CudaStream::reached(Event event) const {
  memory_.use();
  const cudaEvent_t found = find(event);
  return found == nullptr || cudaEventQuery(found) == cudaSuccess;
}

void CudaStream::wait(Event event) {
  memory_.use();
  if (const cudaEvent_t found = find(event)) note(check(cudaEventSynchronize(found), "waiting for the GPU"));
  finish_downloads(event.number);
}

void CudaStream::wait_for(Stream& other, Event event) {
  memory_.use();
  flush();
  if (const cudaEvent_t found = static_cast<CudaStream&>(other).find(event))
    note(check(cudaStreamWaitEvent(stream_, found, 0), "waiting for another stream"));
}

Status CudaStream::synchronize() {
  memory_.use();
  flush();
  note(check(cudaStreamSynchronize(stream_), "computing"));
  finish_downloads(UINT64_MAX);
  read_times();
  outgrown_.clear();
  return std::exchange(status_, Status());
}

}  // namespace tempo9::backend::cuda
