// The only way to compute. Drawn for a GPU: memory has no host pointer, work is submitted and finishes later.
//   Device   makes everything below; one per process and kind.
//   Buffer   device memory of a fixed size.
//   Slab     a buffer from which KV pages are cut; allocated when tokens come, given back when empty.
//   Weight   a matrix (or a stack of expert matrices) in the layout the device likes; rows of it are outputs.
//   Stream   work in order; submit, upload and download do not block.
// Threads: a Device's methods from any thread; a Stream from one at a time. Ownership: unique_ptr throughout;
// the device outlives what it made, and a buffer, weight or slab outlives the work that names it (destroy it
// after synchronize()).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ops.h"
#include "base/result.h"
#include "quant/formats.h"

namespace tempo9::backend {

class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
};

// Memory of the host that a device reaches by itself: what is downloaded to it needs no copy in between.
class HostMemory {
 public:
  explicit HostMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  virtual ~HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

class Weight {
 public:
  Weight(quant::Format format, int rows, int columns, int count)
      : format_(format), rows_(rows), columns_(columns), count_(count) {}
  virtual ~Weight() = default;
  Weight(const Weight&) = delete;
  Weight& operator=(const Weight&) = delete;
  quant::Format format() const { return format_; }
  int rows() const { return rows_; }        // outputs
  int columns() const { return columns_; }  // inputs
  int count() const { return count_; }      // matrices in the stack: 1, or the number of experts
  virtual size_t resident_bytes() const = 0;

 private:
  quant::Format format_;
  int rows_, columns_, count_;
};

// A matrix as it stands in a file.
struct WeightSource {
  quant::Format format;
  int rows, columns, count = 1;
  std::span<const uint8_t> bytes;  // row after row; must stay readable until load_weight() returns
  // What reads it: a device may keep a layout for each.
  bool embedded = true;    // EmbedRows
  bool multiplied = true;  // Linear and ExpertLinear
};

// Slabs by number, as kernels see them: a page is (slab, place in it). Entries may be set while work runs if
// that work does not use them.
class SlabTable {
 public:
  virtual ~SlabTable() = default;
  virtual void set(int index, Buffer* slab) = 0;  // null: the slab is gone
  virtual int capacity() const = 0;
};

// A point in a stream's work.
struct Event {
  uint64_t number = 0;
};

class Stream {
 public:
  virtual ~Stream() = default;
  // Appends an operation. Its views, weights and tables must stay alive until it has run.
  virtual void submit(const Op& op) = 0;
  // Appends a copy to the device; `source` is copied before the call returns.
  virtual void upload(const View& target, std::span<const std::byte> source) = 0;
  // Appends a copy to the host, to any of its memory; `target` holds the values after the next synchronize()
  // (or wait()), and anything before.
  virtual void download(std::span<std::byte> target, const View& source) = 0;

  virtual Event record() = 0;
  virtual bool reached(Event event) const = 0;
  virtual void wait(Event event) = 0;  // the caller waits until the event is reached
  // This stream's later work waits for another stream's event.
  virtual void wait_for(Stream& other, Event event) = 0;
  // Waits for everything. An error of the device (never of a request) is reported here, once.
  virtual Status synchronize() = 0;
};

// Work done since the device was made, for statistics and tests.
struct WorkCounters {
  uint64_t operations = 0;
  // Matrices out of stacks (experts) that ExpertLinear has read; one that is read twice counts twice.
  uint64_t expert_matrices = 0;
  // What operations of each kind took, by OpKind.
  std::array<uint64_t, kOpKinds> nanoseconds{};
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;    // "cpu"
  virtual std::string description() const = 0;  // "cpu (avx2, 2 threads)"

  virtual Result<std::unique_ptr<Buffer>> allocate(size_t bytes) = 0;  // zeroed
  virtual Result<std::unique_ptr<HostMemory>> allocate_host(size_t bytes) = 0;
  virtual Result<std::unique_ptr<Weight>> load_weight(const WeightSource& source) = 0;
  virtual std::unique_ptr<SlabTable> create_slab_table(int capacity) = 0;
  virtual std::unique_ptr<Stream> create_stream() = 0;

  // Bytes that one layer's keys and values of one page (64 tokens) take; a multiple of 64. kUnsupported names
  // the type.
  virtual Result<size_t> kv_layer_bytes(const KvShape& shape) const = 0;
  // Whether the device runs this kind of operation; asked when a model loads, so a gap is named then and
  // nothing falls back in silence.
  virtual bool supports(OpKind kind) const = 0;
  // Bytes of working memory the device keeps for itself. Buffers and weights know their own size.
  virtual size_t scratch_bytes() const = 0;
  // Of operations that have run.
  virtual WorkCounters counters() const = 0;
  // Whether a step of many rows takes so long that others should come between its layers.
  virtual bool has_long_steps() const { return false; }
  // Bytes that can still be allocated, if the device has memory of its own; empty if it shares the system's.
  virtual std::optional<uint64_t> free_bytes() const { return std::nullopt; }
};

struct DeviceOptions {
  int threads = 0;  // 0: one per core
  // cpu: force one leaf ("scalar", "avx2", "neon_dotprod", ...); empty: the best this machine has, or
  // TEMPO9_CPU_ISA. gpu_host: the order in which threads of a group take turns ("forward", "reverse",
  // "shuffled"). cuda: "plain" leaves tensor cores unused.
  std::string isa;
  // A GPU times each operation for WorkCounters, which keeps operations apart and costs much of its speed.
  bool timed = false;
};

// What a user may choose in this build; backends.cpp.
std::vector<std::string_view> device_names();
// `name` is one of device_names(), "auto" (the first of them that this machine has), or "cuda:N" for one of
// several. Test doubles have names besides: "deferred" and "gpu_host".
Result<std::unique_ptr<Device>> create_device(std::string_view name, const DeviceOptions& options);

}  // namespace tempo9::backend
