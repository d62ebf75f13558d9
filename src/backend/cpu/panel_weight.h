// A matrix, or a stack of expert matrices, in panels of 16 rows on huge pages. The last panel of a matrix is
// filled up with zero rows. The file's rows are not needed any more.
#pragma once
#include <memory>

#include "backend/cpu/panel_formats.h"
#include "backend/cpu/weight_arena.h"

namespace tempo9::backend::cpu {

class PanelWeight final : public Weight {
 public:
  // Repacks into the arena on up to `threads` threads of its own. Fails if columns are no multiple of the
  // format's block, if the bytes do not fit the shape, or without memory.
  static Result<std::unique_ptr<PanelWeight>> load(const WeightSource& source, WeightArena& arena,
                                                   int threads);

  int format_index() const { return index_; }
  const PanelFormat& panels_format() const { return panel_format(index_); }
  int panels() const { return (rows() + kPanelRows - 1) / kPanelRows; }  // of one matrix
  size_t panel_bytes() const { return static_cast<size_t>(blocks()) * panels_format().unit_bytes; }
  const uint8_t* matrix(int number) const { return panel(number, 0); }
  // `row` of matrix 0, decoded; `out` takes columns() values.
  void decode_row(int row, float* out) const;
  size_t resident_bytes() const override {
    return static_cast<size_t>(count()) * static_cast<size_t>(panels()) * panel_bytes();
  }

 private:
  PanelWeight(const WeightSource& source, int index)
      : Weight(source.format, source.rows, source.columns, source.count), index_(index) {}
  int blocks() const { return columns() / panels_format().block_columns; }
  uint8_t* panel(int matrix, int number) const;
  void repack(std::span<const uint8_t> rows, int matrix, int number);

  int index_;
  std::shared_ptr<std::byte> memory_;
};

}  // namespace tempo9::backend::cpu
