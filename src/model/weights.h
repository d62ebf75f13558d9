// A model's tensors as data: an architecture lists its slots, one walker checks and loads them. Names and
// shapes are those of the file.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "backend/device.h"
#include "gguf/file.h"
#include "model/model.h"

namespace tempo9::model {

using Matrix = std::unique_ptr<backend::Weight>;  // null: the file has none
using Vector = backend::View;                     // f32 [1, n]; absent if the file has none
using HostVector = std::vector<float>;            // values the host needs; empty if the file has none

// Some rows of a matrix, or some elements of a vector: the `length` that begin at `first`, and again `period`
// further on, `repeats` times in all. Fused tensors are taken apart by it.
struct RowPart {
  uint64_t first = 0, length = 0, period = 0;  // period 0: everything
  uint64_t repeats = 0;                        // 0: to the end
};

struct TensorSlot {
  std::string name;
  std::vector<uint64_t> shape;  // fastest dimension first; trailing ones may be left out
  std::variant<Matrix*, Vector*, HostVector*> target;
  bool required = true;
  RowPart part = {};  // of a matrix, counted over all rows of a stack, or of a vector
};

// Slots "blk.<layer>.<name>".
class LayerSlots {
 public:
  LayerSlots(std::vector<TensorSlot>& slots, int layer) : slots_(slots), layer_(layer) {}
  void add(std::string_view name, std::vector<uint64_t> shape,
           std::variant<Matrix*, Vector*, HostVector*> target, bool required = true, RowPart part = {});
  std::string name(std::string_view part) const;

 private:
  std::vector<TensorSlot>& slots_;
  int layer_;
};

// Checks that every required tensor is there, that each has its shape and a format we compute with, and that
// nothing else is in the file (parts of other modalities apart, whose names are listed in weights.cpp).
Status check_tensors(const gguf::File& file, const std::vector<TensorSlot>& slots);

// Owns the memory of small vectors; matrices belong to their slots.
class WeightStore {
 public:
  // Checks, then loads. After an error nothing may be used. The mapped pages of a loaded matrix are given
  // back.
  Status load(const gguf::File& file, backend::Device& device, const std::vector<TensorSlot>& slots,
              const Progress& progress);
  size_t resident_bytes() const { return matrix_bytes_ + (vectors_ ? vectors_->bytes() : 0); }

 private:
  std::unique_ptr<backend::Buffer> vectors_;
  size_t matrix_bytes_ = 0;
};

}  // namespace tempo9::model
