// What the devices that compute in the host's own memory share: buffers with an address, and a table of
// kernels that run at once. `reference` and `cpu` are HostKernels; host_device.h turns any of them into a
// Device with streams, `deferred` into one that runs late.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/device.h"

namespace tempo9::backend {

// Zeroed memory, 64-byte aligned, on huge pages where it is large enough for one. Only code under backend/
// may look inside.
class HostBuffer final : public Buffer {
 public:
  // Null if the system has no memory.
  static std::unique_ptr<HostBuffer> allocate(size_t bytes);
  ~HostBuffer() override;
  std::byte* data() const { return data_; }

 private:
  HostBuffer(std::byte* data, size_t bytes, size_t mapped) : Buffer(bytes), data_(data), mapped_(mapped) {}
  std::byte* data_;
  size_t mapped_;
};

class HostSlabTable final : public SlabTable {
 public:
  explicit HostSlabTable(int capacity) : bases_(static_cast<size_t>(capacity), nullptr) {}
  void set(int index, Buffer* slab) override;
  int capacity() const override { return static_cast<int>(bases_.size()); }
  std::byte* base(int index) const { return bases_[static_cast<size_t>(index)]; }
  std::byte* const* bases() const { return bases_.data(); }

 private:
  std::vector<std::byte*> bases_;
};

// Where a view's row begins.
template <class T = float>
T* row_pointer(const View& view, int row) {
  auto* base = static_cast<HostBuffer*>(view.buffer)->data() + view.offset;
  return reinterpret_cast<T*>(base) + static_cast<size_t>(row) * static_cast<size_t>(view.stride);
}

// Where page `page` begins.
inline std::byte* page_pointer(const SlabTable* slabs, int pages_per_slab, size_t page_bytes, int page) {
  return static_cast<const HostSlabTable*>(slabs)->base(page / pages_per_slab) +
         static_cast<size_t>(page % pages_per_slab) * page_bytes;
}
// Where a layer's part of it begins.
inline std::byte* page_pointer(const KvLayer& kv, int page) {
  return page_pointer(kv.slabs, kv.pages_per_slab, kv.page_bytes, page) + kv.layer_offset;
}

// The int32 record of one segment (see Segments).
struct SegmentRow {
  int32_t first_row, rows, first_position, first_page;
};
inline const SegmentRow& segment(const Segments& segments, int index) {
  return *row_pointer<const SegmentRow>(
      View{segments.table.buffer, segments.table.offset, segments.count, 1, 1}, index);
}

class HostKernels {
 public:
  virtual ~HostKernels() = default;
  virtual std::string description() const = 0;
  virtual bool supports(OpKind kind) const = 0;
  // Runs the operation to its end, on the calling thread and threads of its own. One call at a time.
  virtual void run(const Op& op) = 0;
  // From any thread, also while run() is busy.
  virtual Result<std::unique_ptr<Weight>> load_weight(const WeightSource& source) = 0;
  virtual Result<size_t> kv_layer_bytes(const KvShape& shape) const = 0;
  virtual size_t scratch_bytes() const = 0;
  // run(), with its time.
  void run_and_count(const Op& op) {
    const auto start = std::chrono::steady_clock::now();
    run(op);
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - start;
    operations_.fetch_add(1, std::memory_order_relaxed);
    nanoseconds_[op.index()].fetch_add(static_cast<uint64_t>(taken.count()), std::memory_order_relaxed);
  }
  // From any thread.
  WorkCounters counters() const {
    WorkCounters all{operations_.load(std::memory_order_relaxed),
                     expert_matrices_.load(std::memory_order_relaxed)};
    for (size_t i = 0; i < nanoseconds_.size(); ++i)
      all.nanoseconds[i] = nanoseconds_[i].load(std::memory_order_relaxed);
    return all;
  }

 protected:
  std::atomic<uint64_t> expert_matrices_{0};

 private:
  std::atomic<uint64_t> operations_{0};
  std::array<std::atomic<uint64_t>, kOpKinds> nanoseconds_{};
};

}  // namespace tempo9::backend
