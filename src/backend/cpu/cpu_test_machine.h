// What the tests of the CPU device share: its kernels on arrays of this process, for every instruction set of
// this machine and several numbers of threads.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "backend/cpu/cpu_kernels.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/panel_formats.h"
#include "quant/formats.h"

namespace tempo9::backend::cpu {

using Values = std::vector<float>;

// Kernels with memory. What it makes lives as long as it does.
class Machine {
 public:
  Machine(std::string isa, int threads) : kernels_(make_cpu_kernels({threads, std::move(isa)}).value()) {}

  HostKernels& kernels() { return *kernels_; }
  void run(const Op& op) { kernels_->run(op); }

  View make(int rows, int columns, int stride) {
    const size_t bytes = static_cast<size_t>(std::max(1, rows)) * static_cast<size_t>(stride) * sizeof(float);
    buffers_.push_back(HostBuffer::allocate(bytes));
    return {buffers_.back().get(), 0, rows, columns, stride};
  }
  template <class T>
  View put(const std::vector<T>& values, int rows, int columns) {
    static_assert(sizeof(T) == sizeof(float));
    const View view = make(rows, columns, columns);
    std::memcpy(row_pointer<T>(view, 0), values.data(), values.size() * sizeof(T));
    return view;
  }
  const Weight* load(quant::Format format, int rows, int columns, std::span<const uint8_t> bytes) {
    weights_.push_back(kernels_->load_weight({format, rows, columns, 1, bytes}).value());
    return weights_.back().get();
  }

 private:
  std::unique_ptr<HostKernels> kernels_;
  std::vector<std::unique_ptr<HostBuffer>> buffers_;
  std::vector<std::unique_ptr<Weight>> weights_;
};

inline Values get(const View& view) {
  Values values;
  for (int r = 0; r < view.rows; ++r)
    values.insert(values.end(), row_pointer(view, r), row_pointer(view, r) + view.columns);
  return values;
}

inline Values normal_values(std::mt19937& random, size_t n, float size = 1.0f) {
  std::normal_distribution<float> normal(0.0f, size);
  Values values(n);
  for (float& v : values) v = normal(random);
  return values;
}

inline std::vector<uint8_t> encode(quant::Format format, const Values& values) {
  const quant::FormatInfo& info = quant::format_info(format);
  std::vector<uint8_t> bytes(info.row_bytes(values.size()));
  for (size_t b = 0; b < values.size() / static_cast<size_t>(info.block_columns); ++b)
    info.encode(values.data() + b * static_cast<size_t>(info.block_columns),
                bytes.data() + b * static_cast<size_t>(info.block_bytes));
  return bytes;
}

// Equal to the last bit; a NaN is equal to the same NaN.
inline bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Every instruction set that this machine can run but the scalar one, which is what they are compared with.
inline std::vector<std::string> vector_isas() {
  std::vector<std::string> names;
  for (const Kernels* kernels : runnable_kernels())
    if (std::string(kernels->name) != "scalar") names.emplace_back(kernels->name);
  return names;
}

// Whether an instruction set adds in linear.h's order. cpu_bfloat_test.cpp tests the exception.
inline bool has_common_order(const std::string& isa, quant::Format format) {
  return choose_kernels(isa).value()->linear[format_index(format)].input != InputForm::kBfloats;
}

}  // namespace tempo9::backend::cpu
