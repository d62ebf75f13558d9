#include "backend/cpu/panel_weight.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace tempo9::backend::cpu {
namespace {

// Less than this is not worth another thread.
constexpr size_t kBytesPerThread = 4 << 20;

// A row beyond the matrix: zero bytes are zero weights in every format.
constexpr size_t kMostBlockBytes = 256;

Status check_source(const WeightSource& source, const PanelFormat& format) {
  const std::string name = quant::type_name(static_cast<uint32_t>(source.format));
  if (source.rows <= 0 || source.columns <= 0 || source.count <= 0)
    return fail(ErrorCode::kInvalidArgument, "a weight needs a positive size, not {} x {} x {}", source.count,
                source.rows, source.columns);
  if (source.columns % format.block_columns != 0)
    return fail(ErrorCode::kUnsupported, "a weight in {} has {} columns, which is no multiple of {}", name,
                source.columns, format.block_columns);
  const size_t row_bytes = static_cast<size_t>(source.columns / format.block_columns) * format.block_bytes;
  const size_t rows = static_cast<size_t>(source.rows) * static_cast<size_t>(source.count);
  if (source.bytes.size() % row_bytes != 0 || source.bytes.size() / row_bytes != rows)
    return fail(ErrorCode::kInvalidArgument, "a weight in {} of {} rows x {} columns cannot have {} bytes",
                name, rows, source.columns, source.bytes.size());
  return {};
}

}  // namespace

uint8_t* PanelWeight::panel(int matrix, int number) const {
  const size_t index =
      static_cast<size_t>(matrix) * static_cast<size_t>(panels()) + static_cast<size_t>(number);
  return reinterpret_cast<uint8_t*>(memory_.get()) + index * panel_bytes();
}

void PanelWeight::repack(std::span<const uint8_t> rows, int matrix, int number) {
  static constexpr uint8_t kZeros[kMostBlockBytes] = {};
  const PanelFormat& format = panels_format();
  const size_t row_bytes = static_cast<size_t>(blocks()) * format.block_bytes;
  const int first = number * kPanelRows, valid = std::min(kPanelRows, this->rows() - first);
  const uint8_t* source = rows.data() + (static_cast<size_t>(matrix) * static_cast<size_t>(this->rows()) +
                                         static_cast<size_t>(first)) *
                                            row_bytes;
  const uint8_t* addresses[kPanelRows];
  for (int r = 0; r < valid; ++r) addresses[r] = source + static_cast<size_t>(r) * row_bytes;
  uint8_t* target = panel(matrix, number);
  if (valid == kPanelRows) {
    format.repack(addresses, blocks(), target);
    return;
  }
  for (int b = 0; b < blocks(); ++b, target += format.unit_bytes) {
    for (int r = valid; r < kPanelRows; ++r) addresses[r] = kZeros;
    format.repack(addresses, 1, target);
    for (int r = 0; r < valid; ++r) addresses[r] += format.block_bytes;
  }
}

Result<std::unique_ptr<PanelWeight>> PanelWeight::load(const WeightSource& source, WeightArena& arena,
                                                       int threads) {
  const int index = cpu::format_index(source.format);
  const PanelFormat& format = panel_format(index);
  TRY(check_source(source, format));
  std::unique_ptr<PanelWeight> weight(new PanelWeight(source, index));
  const size_t bytes = weight->resident_bytes(), panels = bytes / weight->panel_bytes();
  weight->memory_ = arena.take(bytes);
  if (weight->memory_ == nullptr)
    return fail(ErrorCode::kOutOfMemory, "no memory for a weight of {} bytes", bytes);

  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < panels;) {
      const auto per_matrix = static_cast<size_t>(weight->panels());
      weight->repack(source.bytes, static_cast<int>(i / per_matrix), static_cast<int>(i % per_matrix));
    }
  };
  std::vector<std::jthread> helpers;
  const size_t wanted = std::min(static_cast<size_t>(std::max(threads, 1)), bytes / kBytesPerThread + 1);
  for (size_t t = 1; t < wanted; ++t) helpers.emplace_back(work);
  work();
  helpers.clear();
  return weight;
}

void PanelWeight::decode_row(int row, float* out) const {
  panels_format().decode_row(panel(0, row / kPanelRows), row % kPanelRows, blocks(), out);
}

}  // namespace tempo9::backend::cpu
