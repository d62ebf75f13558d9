// Operations on single rows, on every device against the reference. Tolerances count roundings: a sum of n
// terms in any order is off by at most n * 2^-24 * sum |terms|, each further operation by 2^-24 of its
// result.
#include <cmath>

#include "backend/ops_test_device.h"

namespace tempo9::backend {
namespace {

TEST(OpsRowsTest, RmsNorm) {
  std::mt19937 random(1);
  for (const int columns : {64, 576, 1000}) {
    const int rows = 5;
    const Values x = random_values(random, static_cast<size_t>(rows * columns), 3),
                 w = random_values(random, static_cast<size_t>(columns));
    const auto run = [&](TestDevice& device) {
      const View out = device.make(rows, columns, 8);
      device.stream().submit(
          RmsNorm{device.put(x, rows, columns, 24), device.put(w, 1, columns), out, 1e-6f});
      return device.get(out);
    };
    TestDevice reference = make_reference();
    const Values expected = run(reference);
    for_each_candidate([&](const Candidate& c) {
      TestDevice device = make_candidate(c);
      const Values actual = run(device);
      // The mean's relative error (both sides) is halved by the root; then three operations.
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(expected[i], actual[i], (columns + 8) * kEpsilon * std::abs(expected[i]) + 1e-30);
    });
  }
}

TEST(OpsRowsTest, RmsNormInPlaceAndOfZeros) {
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const View x = device.put(Values(64, 0.0f), 1, 64);
    device.stream().submit(RmsNorm{x, device.put(Values(64, 1.0f), 1, 64), x, 1e-6f});
    EXPECT_EQ(device.get(x), Values(64, 0.0f));
  });
}

TEST(OpsRowsTest, RopeAngles) {
  const std::vector<int32_t> positions = {0, 1, 77, 4095, 131071};
  const Values frequencies = {1.0f, 0.31f, 0.01f, 1e-4f};
  const auto run = [&](TestDevice& device) {
    const View out = device.make(5, 8, 8);
    device.stream().submit(
        RopeAngles{device.put_integers(positions), device.put(frequencies, 1, 4), {}, out, 1.25f});
    return device.get(out);
  };
  TestDevice reference = make_reference();
  const Values expected = run(reference);
  EXPECT_FLOAT_EQ(expected[0], 1.25f);
  EXPECT_FLOAT_EQ(expected[8 * 1 + 1], 1.25f * std::sin(1.0f));
  // The angle is one f32 product everywhere; a sine may be off by two units in the last place.
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const Values actual = run(device);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], actual[i], 8 * kEpsilon) << i;
  });
}

TEST(OpsRowsTest, Rope) {
  std::mt19937 random(2);
  struct Case {
    int rows, heads, size, pairs;
    RopePairs kind;
  };
  for (const Case& t : {Case{1, 3, 64, 32, RopePairs::kAdjacent}, Case{40, 9, 64, 32, RopePairs::kAdjacent},
                        Case{7, 2, 128, 64, RopePairs::kSplit}, Case{3, 2, 256, 32, RopePairs::kSplit},
                        Case{3, 2, 80, 20, RopePairs::kAdjacent}}) {
    const Values x = random_values(random, static_cast<size_t>(t.rows * t.heads * t.size));
    Values angles;
    for (int i = 0; i < t.rows * t.pairs; ++i)
      angles.push_back(std::cos(0.1f * static_cast<float>(i))),
          angles.push_back(std::sin(0.1f * static_cast<float>(i)));
    const auto run = [&](TestDevice& device) {
      const View view = device.put(x, t.rows, t.heads * t.size, 16);
      device.stream().submit(Rope{view, device.put(angles, t.rows, 2 * t.pairs), t.heads, t.size, t.kind});
      return device.get(view);
    };
    TestDevice reference = make_reference();
    const Values expected = run(reference);
    for_each_candidate([&](const Candidate& c) {
      TestDevice device = make_candidate(c);
      const Values actual = run(device);
      // Two products and a sum, each of at most 5 here (|x| stays below 5 with these seeds), fused or not.
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(expected[i], actual[i], 4 * kEpsilon * 10) << i;
    });
  }
}

TEST(OpsRowsTest, RopeLeavesTheRestOfAHeadAlone) {
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    Values x(128);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    const View view = device.put(x, 1, 128);
    device.stream().submit(Rope{view, device.put(Values(16, 0.5f), 1, 16), 2, 64, RopePairs::kSplit});
    const Values out = device.get(view);
    for (size_t i = 0; i < 128; ++i)
      if (i % 64 >= 16) {
        EXPECT_EQ(out[i], x[i]) << i;
      }
  });
}

TEST(OpsRowsTest, GatherRows) {
  std::mt19937 random(4);
  const Values x = random_values(random, 9 * 100);
  const std::vector<int32_t> indices = {8, 0, 3, 3};
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const View out = device.make(4, 100, 12);
    device.stream().submit(GatherRows{device.put(x, 9, 100, 28), device.put_integers(indices), out});
    const Values actual = device.get(out);
    for (size_t i = 0; i < 4; ++i)
      for (size_t k = 0; k < 100; ++k)
        ASSERT_EQ(actual[i * 100 + k], x[static_cast<size_t>(indices[i]) * 100 + k]);
  });
}

// The double that stands in for a GPU must not show a result before it was waited for.
TEST(DeferredTest, ADownloadHoldsNothingUntilItWasWaitedFor) {
  TestDevice device(create_device("deferred", {2, ""}).value());
  const View x = device.put(Values(64, 3.0f), 1, 64), out = device.make(1, 64);
  device.stream().submit(RmsNorm{x, device.put(Values(64, 1.0f), 1, 64), out, 0.0f});
  Values early(64, 7.0f);
  device.stream().download(std::as_writable_bytes(std::span(early)), out);
  EXPECT_TRUE(std::isnan(early[0]));
  ASSERT_TRUE(device.stream().synchronize().has_value());
  EXPECT_FLOAT_EQ(early[0], 1.0f);
}

TEST(StreamTest, AnEventOrdersTwoStreams) {
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const auto second = device.device().create_stream();
    const View x = device.put(Values(64, 2.0f), 1, 64), out = device.make(1, 64),
               ones = device.put(Values(64, 1.0f), 1, 64);
    device.stream().submit(RmsNorm{x, ones, x, 0.0f});
    second->wait_for(device.stream(), device.stream().record());
    second->submit(RmsNorm{x, ones, out, 3.0f});  // 1 / sqrt(1 + 3)
    Values result(64);
    second->download(std::as_writable_bytes(std::span(result)), out);
    ASSERT_TRUE(second->synchronize().has_value());
    EXPECT_FLOAT_EQ(result[5], 0.5f);
  });
}

TEST(StreamTest, MoreWorkThanTheQueueHolds) {
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const View x = device.put(Values(16, 1.0f), 1, 16), ones = device.put(Values(16, 1.0f), 1, 16);
    for (int i = 0; i < 20000; ++i) device.stream().submit(RmsNorm{x, ones, x, 0.0f});
    EXPECT_EQ(device.get(x), Values(16, 1.0f));
  });
}

TEST(DeviceTest, UnknownNamesAreNamed) {
  EXPECT_NE(create_device("abacus", {}).error().message.find("abacus"), std::string::npos);
  EXPECT_NE(create_device("cpu", {1, "sse9"}).error().message.find("sse9"), std::string::npos);
}

TEST(DeviceTest, EveryDeviceRunsEveryOperation) {
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    for (int k = 0; k < kOpKinds; ++k)
      EXPECT_TRUE(device.device().supports(static_cast<OpKind>(k))) << op_name(static_cast<OpKind>(k));
  });
}

}  // namespace
}  // namespace tempo9::backend
