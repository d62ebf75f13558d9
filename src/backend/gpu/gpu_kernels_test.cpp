// What the kernels promise beyond the meaning of operations: the decoded values of the file to the bit, the
// same bits in any order of threads, functions as exact as f32 allows.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backend/gpu/dialect/host.h"
#include "backend/gpu/kernels/args.h"
#include "backend/gpu/kernels/math.h"
#include "backend/gpu/kernels/pieces.h"
#include "backend/ops_test_device.h"

namespace tempo9::backend::gpu {
namespace {

TEST(GpuKernelsTest, PiecesHaveTheValuesOfTheFormat) {
  std::mt19937 random(1);
  const int columns = 512;
  for (const quant::FormatInfo& info : quant::formats()) {
    SCOPED_TRACE(info.name);
    // Random bytes reach every bit of a block; a scale that is no number is left out.
    std::vector<uint8_t> row(info.row_bytes(columns));
    for (uint8_t& byte : row) byte = static_cast<uint8_t>(random());
    std::vector<float> expected(columns);
    quant::decode_row(info.format, row.data(), columns, expected.data());
    for (uint piece = 0; piece * PIECE < static_cast<uint>(columns); ++piece) {
      float values[PIECE];
      decode_piece(static_cast<uint>(info.format), row.data(), piece, columns, values);
      for (uint i = 0; i < PIECE; ++i) {
        const float e = expected[piece * PIECE + i];
        if (!std::isnan(e)) {
          ASSERT_EQ(as_uint(values[i]), as_uint(e)) << piece << " " << i;
        }
      }
    }
  }
}

TEST(GpuKernelsTest, FunctionsAreNearTheTruth) {
  constexpr double kUlp = 0x1p-23;
  for (int i = -8500; i <= 8800; ++i) {
    const float x = static_cast<float>(i) * 0.01f;
    EXPECT_NEAR(exponential(x) / std::exp(static_cast<double>(x)), 1, 2 * kUlp) << x;
    EXPECT_NEAR(hyperbolic_tangent(x), std::tanh(static_cast<double>(x)), kUlp) << x;
    const double soft = x > 20 ? x : std::log1p(std::exp(static_cast<double>(x)));
    EXPECT_NEAR(softplus(x), soft, 4 * kUlp * soft) << x;
  }
  for (int i = 1; i < 2000; ++i) {
    const float x = std::exp2(static_cast<float>(i - 1000) * 0.1f);
    EXPECT_NEAR(logarithm(x), std::log(static_cast<double>(x)),
                2 * kUlp * std::max(1.0f, std::abs(std::log(x))))
        << x;
  }
  for (int i = 0; i < 20000; ++i) {
    const float x = static_cast<float>(i) * 13.37f - 100.0f;
    const Angle angle = cosine_and_sine(x);
    EXPECT_NEAR(angle.cosine, std::cos(static_cast<double>(x)), 2 * kUlp) << x;
    EXPECT_NEAR(angle.sine, std::sin(static_cast<double>(x)), 2 * kUlp) << x;
  }
  EXPECT_EQ(exponential(-1e30f), 0.0f);
  EXPECT_TRUE(std::isinf(exponential(100.0f)));
  EXPECT_TRUE(std::isnan(exponential(NAN)) && std::isnan(hyperbolic_tangent(NAN)));
  EXPECT_EQ(hyperbolic_tangent(50.0f), 1.0f);
}

TEST(GpuKernelsTest, UnknownOrdersAreNamed) {
  const auto refused = create_device("gpu_host", {0, "sideways"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("sideways"), std::string::npos);
}

TEST(GpuKernelsTest, HeadsOfAnUnusualSizeAreRefused) {
  const auto device = create_device("gpu_host", {}).value();
  for (const int size : {24, 1024}) {
    const auto refused = device->kv_layer_bytes({KvType::kF16, 1, size, size});
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().message.find(std::to_string(size)), std::string::npos);
  }
}

}  // namespace
}  // namespace tempo9::backend::gpu
