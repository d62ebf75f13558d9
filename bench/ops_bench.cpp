// ops_bench: the speed of single operations on a device, beside the limits that they have.
//   ops_bench linear    [--format Q4_1] [--threads 2] [--isa avx2]   us, GB/s of weights, GMAC/s
//                       [--outputs 4096 --columns 4096]
//   ops_bench attention [--type f16]    [--threads 2] [--isa avx2]   us, GB/s of pages, GMAC/s
//   ops_bench limits                    [--threads 2] [--isa avx2]   what the machine can do: GB/s read from
//   memory,
//                                       GMAC/s of each format with weights and activations in the cache
// Weights and pages rotate through 256 MB, so they come from memory. The best of repeated short runs.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <thread>

#include "backend/device.h"
#include "backend/host/host_kernels.h"

namespace tempo9::backend {
namespace {

constexpr size_t kRotation = size_t{256} << 20;
constexpr int kPageTokens = 64;

struct Options {
  std::string device = "cpu", format, type = "f16";
  int outputs = 0, columns = 0;
  DeviceOptions device_options;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The least of the seconds that `work` takes: what it costs when nobody else disturbs it.
template <class Work>
double best_seconds(Work work) {
  double best = 1e9;
  const double begin = seconds_now();
  for (int i = 0; i < 5 || (i < 200 && seconds_now() - begin < 0.4); ++i) {
    const double start = seconds_now();
    work();
    best = std::min(best, seconds_now() - start);
  }
  return best;
}

template <class T>
T value_or_exit(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().message);
  std::exit(1);
}

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        device_(value_or_exit(create_device(options.device, options.device_options))),
        stream_(device_->create_stream()) {}

  void linear();
  void attention();
  void limits();

 private:
  View make(int rows, int columns) {
    const size_t bytes = static_cast<size_t>(rows) * static_cast<size_t>(columns) * sizeof(float);
    buffers_.push_back(value_or_exit(device_->allocate(bytes)));
    return {buffers_.back().get(), 0, rows, columns, columns};
  }
  template <class T>
  View put(const std::vector<T>& values, int rows) {
    const View view = make(rows, static_cast<int>(values.size()) / rows);
    stream_->upload(view, std::as_bytes(std::span(values)));
    return view;
  }
  View normal(int rows, int columns) {
    std::normal_distribution<float> distribution;
    std::vector<float> values(static_cast<size_t>(rows) * static_cast<size_t>(columns));
    for (float& v : values) v = distribution(random_);
    return put(values, rows);
  }
  // What is submitted before a wait: a GPU is waited for much longer than it computes.
  double batch_products() const { return device_->name() == "cuda" ? 4e10 : 2e8; }
  void synchronize() {
    if (const Status status = stream_->synchronize(); !status)
      fmt::print(stderr, "{}\n", status.error().message);
  }

  std::vector<uint8_t> encode_rows(const quant::FormatInfo& format, int rows, int columns);
  void linear(const quant::FormatInfo& format, int outputs, int columns);
  void attention(int heads, int kv_heads, int size, int depth);
  double attend(const std::vector<Attention>& layers, int depth, int rows);

  Options options_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::mt19937 random_{3};
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

// Rows of random values, all alike.
std::vector<uint8_t> Bench::encode_rows(const quant::FormatInfo& format, int rows, int columns) {
  const size_t row_bytes = format.row_bytes(static_cast<size_t>(columns));
  std::vector<float> values(static_cast<size_t>(columns));
  std::normal_distribution<float> distribution;
  std::vector<uint8_t> bytes(row_bytes * static_cast<size_t>(rows));
  for (float& v : values) v = distribution(random_);
  for (int b = 0; b < columns / format.block_columns; ++b)
    format.encode(values.data() + b * format.block_columns, bytes.data() + b * format.block_bytes);
  for (size_t at = row_bytes; at < bytes.size(); at += row_bytes)
    std::copy_n(bytes.begin(), row_bytes, bytes.begin() + static_cast<ptrdiff_t>(at));
  return bytes;
}

void Bench::linear(const quant::FormatInfo& format, int outputs, int columns) {
  const std::vector<uint8_t> bytes = encode_rows(format, outputs, columns);
  std::vector<std::unique_ptr<Weight>> weights;
  do {
    weights.push_back(
        value_or_exit(device_->load_weight({format.format, outputs, columns, 1, bytes, false})));
  } while (weights.size() * weights[0]->resident_bytes() < kRotation);
  const size_t weight_bytes = weights[0]->resident_bytes();
  const View x = normal(512, columns), out = make(512, outputs);
  size_t next = 0;
  for (const int rows : {1, 2, 4, 8, 16, 32, 64, 128, 512}) {
    const double products = static_cast<double>(outputs) * columns * rows;
    if (products > 60e9) continue;
    size_t batch = std::max<size_t>(1, static_cast<size_t>(batch_products() / products));
    if (batch > weights.size())
      batch -= batch % weights.size();  // a batch comes again: a GPU keeps its launches
    Linear op;
    op.input.x = x.first_rows(rows);
    op.count = 1;
    op.outputs[0].out = out.first_rows(rows);
    const double seconds = best_seconds([&] {
                             for (size_t i = 0; i < batch; ++i, next = (next + 1) % weights.size()) {
                               op.outputs[0].weight = weights[next].get();
                               stream_->submit(op);
                             }
                             synchronize();
                           }) /
                           static_cast<double>(batch);
    fmt::print("{:<7} {:6} x {:5}  rows {:3}  {:10.1f} us  {:6.1f} GB/s  {:7.1f} GMAC/s\n", format.name,
               outputs, columns, rows, seconds * 1e6, static_cast<double>(weight_bytes) / seconds / 1e9,
               products / seconds / 1e9);
  }
  buffers_.clear();
}

void Bench::linear() {
  for (const quant::FormatInfo& format : quant::formats()) {
    if (!options_.format.empty() && options_.format != format.name) continue;
    const bool small = format.block_columns <= 32;
    if (options_.outputs > 0 && options_.columns > 0) {
      linear(format, options_.outputs, options_.columns);
      continue;
    }
    linear(format, small ? 1536 : 3072, small ? 576 : 1024);
    if (!options_.format.empty()) linear(format, 8192, 2048);
  }
}

// The seconds of one layer: `rows` rows after `depth` positions.
double Bench::attend(const std::vector<Attention>& layers, int depth, int rows) {
  const View segment = put(std::vector<int32_t>{0, rows, depth, 0}, 1);
  const Segments segments{segment, 1, rows, depth + rows};
  const int batch = rows == 1 ? static_cast<int>(layers.size()) : 1;
  size_t next = 0;
  return best_seconds([&] {
           for (int i = 0; i < batch; ++i, next = (next + 1) % layers.size()) {
             Attention op = layers[next];
             op.segments = segments;
             op.queries = op.queries.first_rows(rows);
             op.out = op.out.first_rows(rows);
             stream_->submit(op);
           }
           synchronize();
         }) /
         batch;
}

void Bench::attention(int heads, int kv_heads, int size, int depth) {
  constexpr int kChunk = 512;
  const KvType type = options_.type == "f16"    ? KvType::kF16
                      : options_.type == "bf16" ? KvType::kBF16
                      : options_.type == "q8_0" ? KvType::kQ8_0
                                                : KvType::kF32;
  const KvShape shape{type, kv_heads, size, size};
  const size_t page_bytes = value_or_exit(device_->kv_layer_bytes(shape));
  const int pages = (depth + kChunk + kPageTokens - 1) / kPageTokens;
  const size_t layer_bytes = page_bytes * static_cast<size_t>(pages);
  const size_t copies = std::min<size_t>(30, kRotation / layer_bytes + 1);
  const auto slabs = device_->create_slab_table(static_cast<int>(copies));
  std::vector<int32_t> table;
  for (int p = 0; p < pages; ++p) table.push_back(p);
  Attention op;
  op.queries = normal(kChunk, heads * size);
  op.out = make(kChunk, heads * size);
  op.query_heads = heads;
  op.scale = 0.1f;
  op.kv = {slabs.get(), pages, page_bytes, 0, shape};
  std::vector<Attention> layers;
  for (size_t c = 0; c < copies; ++c) {
    buffers_.push_back(value_or_exit(device_->allocate(layer_bytes)));
    slabs->set(static_cast<int>(c), buffers_.back().get());
    op.page_table = put(table, 1);
    for (int32_t& page : table) page += pages;
    layers.push_back(op);
    KvWrite write;  // zeros would do for time, but not for the pages' memory to be there
    write.keys = write.values = normal(depth + kChunk, kv_heads * size);
    write.page_table = op.page_table;
    write.segments = {put(std::vector<int32_t>{0, depth + kChunk, 0, 0}, 1), 1, depth + kChunk,
                      depth + kChunk};
    write.kv = op.kv;
    stream_->submit(write);
    synchronize();
  }
  const double step = attend(layers, std::max(0, depth - 1), 1), chunk = attend(layers, depth, kChunk);
  const double read = static_cast<double>(page_bytes) / kPageTokens * depth;
  const double products = 2.0 * size * heads * kChunk * (depth + kChunk / 2.0);
  fmt::print(
      "{} heads {:2}/{} x {:3}  depth {:4}  step {:8.1f} us {:5.1f} GB/s   chunk of 512 {:9.1f} us {:5.1f} "
      "GMAC/s\n",
      options_.type, heads, kv_heads, size, depth, step * 1e6, read / step / 1e9, chunk * 1e6,
      products / chunk / 1e9);
  buffers_.clear();
}

void Bench::attention() {
  for (const int depth : {0, 512, 2048, 8192}) attention(9, 3, 64, depth);
  for (const int depth : {0, 512, 2048, 8192}) attention(16, 8, 128, depth);
}

// Bytes per second that threads read from memory together, on huge pages where the system gives them.
double read_speed(int threads) {
  constexpr size_t kBytes = size_t{512} << 20;
  const std::unique_ptr<HostBuffer> buffer = HostBuffer::allocate(kBytes);
  if (buffer == nullptr) return 0;
  auto* words = reinterpret_cast<uint64_t*>(buffer->data());
  std::fill_n(words, kBytes / sizeof(uint64_t), 1);
  const size_t share = kBytes / sizeof(uint64_t) / static_cast<size_t>(threads);
  std::atomic<uint64_t> total = 0;
  const double seconds = best_seconds([&] {
    std::vector<std::jthread> readers;
    for (int t = 0; t < threads; ++t)
      readers.emplace_back([&, begin = words + static_cast<size_t>(t) * share] {
        total += std::accumulate(begin, begin + share, uint64_t{0});
      });
  });
  return total == 0 ? 0 : static_cast<double>(kBytes) / seconds;
}

void Bench::limits() {
  const int threads = options_.device_options.threads > 0
                          ? options_.device_options.threads
                          : static_cast<int>(std::thread::hardware_concurrency());
  fmt::print("memory   {:7.1f} GB/s with {} threads\n", read_speed(threads) / 1e9, threads);
  constexpr int kRows = 64, kOutputs = 256, kColumns = 512;  // a quarter of a megabyte of bytes
  for (const quant::FormatInfo& format : quant::formats()) {
    const std::vector<uint8_t> bytes = encode_rows(format, kOutputs, kColumns);
    const auto weight = value_or_exit(device_->load_weight({format.format, kOutputs, kColumns, 1, bytes}));
    Linear op;
    op.input.x = normal(kRows, kColumns);
    op.count = 1;
    op.outputs[0].weight = weight.get();
    op.outputs[0].out = make(kRows, kOutputs);
    constexpr int kBatch = 32;
    const double seconds = best_seconds([&] {
      for (int i = 0; i < kBatch; ++i) stream_->submit(op);
      synchronize();
    });
    fmt::print("{:<8} {:7.1f} GMAC/s\n", format.name, 1e-9 * kBatch * kRows * kOutputs * kColumns / seconds);
    buffers_.clear();
  }
}

}  // namespace
}  // namespace tempo9::backend

int main(int argc, char** argv) {
  using tempo9::backend::Bench;
  CLI::App app("The speed of single operations");
  tempo9::backend::Options options;
  app.require_subcommand(1);
  app.add_option("--device", options.device, "device");
  app.add_option("--threads", options.device_options.threads, "threads; 0: one per core");
  app.add_option("--isa", options.device_options.isa, "CPU instruction set");
  CLI::App* linear = app.add_subcommand("linear", "matrices, for several numbers of rows");
  linear->add_option("--format", options.format, "one weight format instead of all");
  linear->add_option("--outputs", options.outputs, "of a matrix of another size");
  linear->add_option("--columns", options.columns, "of a matrix of another size");
  app.add_subcommand("attention", "steps and chunks at several depths")
      ->add_option("--type", options.type, "type of keys and values: f16, bf16, q8_0, f32");
  app.add_subcommand("limits", "what the machine can do at most");
  app.fallthrough();
  CLI11_PARSE(app, argc, argv);
  Bench bench(options);
  if (app.got_subcommand("linear")) bench.linear();
  if (app.got_subcommand("attention")) bench.attention();
  if (app.got_subcommand("limits")) bench.limits();
}
