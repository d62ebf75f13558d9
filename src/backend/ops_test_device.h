// What the operation tests share: a device with helpers to put arrays on it and read them back, and the list
// of devices under test.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "backend/device.h"

namespace tempo9::backend {

using Values = std::vector<float>;

// A device that takes host arrays and gives host arrays. Everything it is asked to hold lives as long as it
// does.
class TestDevice {
 public:
  explicit TestDevice(std::unique_ptr<Device> device)
      : device_(std::move(device)), stream_(device_->create_stream()) {}
  ~TestDevice() { EXPECT_TRUE(stream_->synchronize().has_value()); }

  Device& device() { return *device_; }
  Stream& stream() { return *stream_; }

  // Rows may be wider than their columns, so that an operation that ignores the stride is found.
  View make(int rows, int columns, int extra_stride = 0) {
    const int stride = columns + extra_stride;
    buffers_.push_back(
        device_->allocate(static_cast<size_t>(std::max(1, rows) * stride) * sizeof(float)).value());
    return {buffers_.back().get(), 0, rows, columns, stride};
  }
  View put(const Values& values, int rows, int columns, int extra_stride = 0) {
    const View view = make(rows, columns, extra_stride);
    stream_->upload(view, std::as_bytes(std::span(values)));
    return view;
  }
  View put_integers(const std::vector<int32_t>& values) {
    const View view = make(static_cast<int>(values.size()), 1);
    stream_->upload(view, std::as_bytes(std::span(values)));
    return view;
  }
  Values get(const View& view) {
    Values values(static_cast<size_t>(view.rows) * static_cast<size_t>(view.columns));
    stream_->download(std::as_writable_bytes(std::span(values)), view);
    EXPECT_TRUE(stream_->synchronize().has_value());
    return values;
  }
  const Weight* weight(quant::Format format, int rows, int columns, std::span<const uint8_t> bytes) {
    auto loaded = device_->load_weight({format, rows, columns, 1, bytes});
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message);
    weights_.push_back(std::move(*loaded));
    return weights_.back().get();
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<Weight>> weights_;
};

// A device under test, by a name a person can read: "cpu/avx2/2 threads".
struct Candidate {
  std::string name, device;
  DeviceOptions options;
};

// Every device of this build but the reference, the cpu once per instruction set of this machine and with
// several thread counts.
const std::vector<Candidate>& candidates();
inline TestDevice make_reference() {
  return TestDevice(create_device("reference", {}).value());
}
inline TestDevice make_candidate(const Candidate& c) {
  return TestDevice(create_device(c.device, c.options).value());
}

// Calls test(candidate) for each with its name in the failure messages.
template <class Test>
void for_each_candidate(Test test) {
  for (const Candidate& candidate : candidates()) {
    SCOPED_TRACE(candidate.name);
    test(candidate);
  }
}

inline Values random_values(std::mt19937& random, size_t n, float size = 1.0f) {
  std::normal_distribution<float> normal(0.0f, size);
  Values values(n);
  for (float& v : values) v = normal(random);
  return values;
}

// A weight in some format from random values, with the values that the format really holds.
struct TestWeight {
  quant::Format format;
  int rows, columns;
  std::vector<uint8_t> bytes;
  Values values;  // decoded
};
TestWeight random_weight(std::mt19937& random, quant::Format format, int rows, int columns);

inline constexpr double kEpsilon = 0x1p-24;  // half a unit in the last place of f32, relative: one rounding

}  // namespace tempo9::backend
