// Round trips with bounds that follow from each format's levels; the table; sixteen-bit floats at their
// edges. Equality of decoding with other implementations is the business of tests/quant_reference_test.py.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "quant/formats.h"
#include "quant/half.h"
#include "quant/q4_0.h"

namespace tempo9::quant {
namespace {

// The largest error of a value as a share of the block's peak P, apart from the rounding of f16 scales.
//   Symmetric, levels -n to n - 1, the peak on -n: a value at the other end is one step, P/n, away.
//   Ranged, levels 0 to n over at most 2P: half a step, P/n.
//   Sub-block scales that are multiples of 1/m of the largest are off by at most 1/m of it (the clamp at the
//   positive end; half of that elsewhere), which moves the ends of the levels by P/m. For ranged formats the
//   ends move by half of 2P/m plus half of P/m, and a value is either beyond an end or rounded, never both.
struct Bound {
  Format format;
  double share;
};
const Bound kBounds[] = {
    {Format::kF32, 0},
    {Format::kF16, 0x1p-11},
    {Format::kQ4_0, 1.0 / 8},
    {Format::kQ4_1, 1.0 / 15},
    {Format::kQ5_0, 1.0 / 16},
    {Format::kQ5_1, 1.0 / 31},
    {Format::kQ8_0, 0.5 / 127},
    {Format::kQ2_K, std::max(1.0 / 3, 1.5 / 15)},
    {Format::kQ3_K, 1.0 / 4 + 1.0 / 32},
    {Format::kQ4_K, std::max(1.0 / 15, 1.5 / 63)},
    {Format::kQ5_K, std::max(1.0 / 31, 1.5 / 63)},
    {Format::kQ6_K, 1.0 / 32 + 1.0 / 128},
    {Format::kIQ4_NL, 14.0 / 127},  // the peak at the wrong end, where levels stop at 113
    {Format::kIQ4_XS, 14.0 / 127 + 1.0 / 32},
    {Format::kBF16, 0x1p-8},
    {Format::kMXFP4, 1.0 / 4},  // the peak just below 8, where levels stop at 6
};
// At most a scale over the whole range, 2P, a minimum and a step of steps are halves of relative error 2^-11.
constexpr double kHalfRounding = 4 * 0x1p-11;

using Values = std::vector<float>;

Values round_trip(const FormatInfo& info, const Values& values) {
  std::vector<uint8_t> row(info.row_bytes(values.size()));
  Values back(values.size());
  encode_row(info.format, values.data(), values.size(), row.data());
  decode_row(info.format, row.data(), values.size(), back.data());
  return back;
}

float peak_of(const Values& values) {
  float peak = 0;
  for (float v : values) peak = std::max(peak, std::abs(v));
  return peak;
}

void expect_bound(const FormatInfo& info, const Values& block, double share) {
  const Values back = round_trip(info, block);
  const double rounding = info.block_columns > 1 ? kHalfRounding : 0;
  const double limit = (share + rounding) * peak_of(block);
  for (size_t i = 0; i < block.size(); ++i)
    ASSERT_LE(std::abs(static_cast<double>(back[i]) - block[i]), limit)
        << info.name << " column " << i << ": " << block[i] << " became " << back[i];
}

TEST(Quant, RoundTripStaysWithinTheDerivedBound) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1);
  ASSERT_EQ(std::size(kBounds), formats().size());
  for (const Bound& bound : kBounds) {
    const FormatInfo& info = format_info(bound.format);
    for (int trial = 0; trial < 300; ++trial) {
      Values block(static_cast<size_t>(info.block_columns));
      const float shift = trial % 3 == 0 ? 0.0f : normal(random);
      for (float& v : block) v = normal(random) + shift;
      // Both ends of the range in one block, and sub-blocks of very different size.
      if (trial % 4 == 0) block.front() = -(block.back() = 5.0f);
      if (trial % 5 == 0)
        for (size_t i = 0; i < block.size() / 2; ++i) block[i] *= 0.01f;
      expect_bound(info, block, bound.share);
    }
  }
}

TEST(Quant, ZerosAndConstantsSurvive) {
  for (const FormatInfo& info : formats()) {
    const auto columns = static_cast<size_t>(info.block_columns);
    for (float v : round_trip(info, Values(columns, 0.0f))) EXPECT_EQ(v, 0.0f) << info.name;
    // -1 is an end of every symmetric range and the minimum of every other, so it is hit up to scale
    // rounding.
    for (float v : round_trip(info, Values(columns, -1.0f))) EXPECT_NEAR(v, -1.0f, 3 * 0x1p-11) << info.name;
  }
}

// Whatever comes in, encoding and decoding only compute: no trap, no undefined conversion (sanitizer builds).
TEST(Quant, EncodesAnyBits) {
  std::mt19937 random(2);
  for (const FormatInfo& info : formats()) {
    for (int trial = 0; trial < 200; ++trial) {
      Values block(static_cast<size_t>(info.block_columns));
      for (float& v : block) v = float_from_bits(static_cast<uint32_t>(random()));
      EXPECT_EQ(round_trip(info, block).size(), block.size());
    }
    const Values huge(static_cast<size_t>(info.block_columns), std::numeric_limits<float>::infinity());
    EXPECT_EQ(round_trip(info, huge).size(), huge.size());
  }
}

TEST(Quant, RowsAreBlocksOneAfterAnother) {
  std::mt19937 random(3);
  for (const FormatInfo& info : formats()) {
    const auto columns = static_cast<size_t>(info.block_columns),
               bytes = static_cast<size_t>(info.block_bytes);
    std::vector<uint8_t> row(3 * bytes + 1);
    for (uint8_t& byte : row) byte = static_cast<uint8_t>(random() & 0x3f);  // no NaN
    const uint8_t* odd_address = row.data() + 1;
    Values whole(3 * columns), single(columns);
    decode_row(info.format, odd_address, 3 * columns, whole.data());
    for (size_t b = 0; b < 3; ++b) {
      info.decode(odd_address + b * bytes, single.data());
      for (size_t i = 0; i < columns; ++i) ASSERT_EQ(whole[b * columns + i], single[i]) << info.name;
    }
    EXPECT_EQ(info.row_bytes(3 * columns), 3 * bytes);
  }
}

TEST(Quant, ConstexprDecodeForOtherCompilers) {
  constexpr auto third = [] {
    BlockQ4_0 block = {{0x00, 0x40}, {}};  // scale 2
    block.levels[3] = 0x1f;
    float out[32] = {};
    decode(block, out);
    return out[3] + 100 * out[19];
  }();
  static_assert(third == 2 * 7 + 100 * 2 * -7);
}

TEST(Formats, TableIsInOrderAndFindsEveryEntry) {
  std::set<uint32_t> ids;
  for (const FormatInfo& info : formats()) {
    const auto id = static_cast<uint32_t>(info.format);
    EXPECT_TRUE(ids.insert(id).second);
    EXPECT_EQ(*ids.rbegin(), id);
    EXPECT_EQ(find_format(id), &info);
    EXPECT_EQ(&format_info(info.format), &info);
    EXPECT_EQ(type_name(id), info.name);
    EXPECT_EQ(find_type(id)->block_bytes, info.block_bytes);
  }
  EXPECT_EQ(ids.size(), 16u);
}

TEST(Formats, NamesWhatItCannotCompute) {
  EXPECT_EQ(find_format(16), nullptr);
  EXPECT_EQ(type_name(16), "IQ2_XXS");
  EXPECT_EQ(find_type(16)->block_bytes, 66);
  EXPECT_EQ(type_name(27), "I64");
  EXPECT_EQ(type_name(4), "Q4_2");
  EXPECT_EQ(find_type(4)->block_bytes, 0);
  for (uint32_t id : {43u, 77u, 0x80000000u, 0xffffffffu}) {
    EXPECT_FALSE(find_type(id).has_value());
    EXPECT_EQ(find_format(id), nullptr);
    EXPECT_EQ(type_name(id), "type " + std::to_string(id));
  }
  // Ids 0 to 42 are all taken, by types of today or of the past.
  for (uint32_t id = 0; id <= 42; ++id) EXPECT_TRUE(find_type(id).has_value()) << id;
}

TEST(Half, EdgesOfTheRange) {
  EXPECT_EQ(float_to_half(65504.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65519.996f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);  // the tie to even is infinity
  EXPECT_EQ(float_to_half(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(float_to_half(0x1p-24f), 0x0001);
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);  // tie to even
  EXPECT_EQ(float_to_half(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(float_to_half(0x3p-25f), 0x0002);  // tie to even
  EXPECT_EQ(float_to_half(0x1.ffffffp-15f), 0x0400);
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(float_from_bits(0x7f800001)))));
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(half_to_float(0x83ff), -0x3ffp-24f);
}

TEST(Half, EveryHalfComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float from_half = half_to_float(half), from_bfloat = bfloat_to_float(half);
    ASSERT_TRUE(std::isnan(from_half) || float_to_half(from_half) == half) << half;
    ASSERT_TRUE(std::isnan(from_bfloat) || float_to_bfloat(from_bfloat) == half) << half;
  }
}

TEST(Half, BfloatRoundsToNearestEven) {
  EXPECT_EQ(float_to_bfloat(float_from_bits(0x3f808000)), 0x3f80);
  EXPECT_EQ(float_to_bfloat(float_from_bits(0x3f808001)), 0x3f81);
  EXPECT_EQ(float_to_bfloat(float_from_bits(0x3f818000)), 0x3f82);
  EXPECT_EQ(float_to_bfloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloat_to_float(float_to_bfloat(float_from_bits(0x7f800001)))));
}

}  // namespace
}  // namespace tempo9::quant
