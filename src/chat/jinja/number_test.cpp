#include "chat/jinja/number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tempo9::chat::jinja {
namespace {

constexpr Integer kGreatest = static_cast<Integer>(~static_cast<unsigned __int128>(0) >> 1);

TEST(NumberTest, FloatsAreWrittenAsPythonWritesThem) {
  EXPECT_EQ(format_float(1), "1.0");
  EXPECT_EQ(format_float(0.1), "0.1");
  EXPECT_EQ(format_float(-0.0), "-0.0");
  EXPECT_EQ(format_float(1e16), "1e+16");
  EXPECT_EQ(format_float(9999999999999998), "9999999999999998.0");
  EXPECT_EQ(format_float(0.0001), "0.0001");
  EXPECT_EQ(format_float(0.00001), "1e-05");
  EXPECT_EQ(format_float(1.5e300), "1.5e+300");
  EXPECT_EQ(format_float(5e-324), "5e-324");
  EXPECT_EQ(format_float(123456.789), "123456.789");
  EXPECT_EQ(format_float(INFINITY), "inf");
  EXPECT_EQ(format_float(NAN), "nan");
}

TEST(NumberTest, IntegersReachBothEndsOf128Bits) {
  EXPECT_EQ(format_integer(kGreatest), "170141183460469231731687303715884105727");
  EXPECT_EQ(format_integer(-kGreatest - 1), "-170141183460469231731687303715884105728");
  EXPECT_EQ(format_integer(255, 16), "ff");
  bool overflow = false;
  EXPECT_EQ(parse_integer("170141183460469231731687303715884105727", 10, overflow), kGreatest);
  EXPECT_EQ(parse_integer("-170141183460469231731687303715884105728", 10, overflow), -kGreatest - 1);
  EXPECT_FALSE(parse_integer("170141183460469231731687303715884105728", 10, overflow));
  EXPECT_TRUE(overflow);
}

TEST(NumberTest, IntegersAreReadAsPythonReadsThem) {
  bool overflow = false;
  const auto read = [&](std::string_view text, int base = 10) { return parse_integer(text, base, overflow); };
  EXPECT_EQ(read(" +1_000\n"), 1000);
  EXPECT_EQ(read("0x1F", 16), 31);
  EXPECT_EQ(read("1f", 16), 31);
  EXPECT_EQ(read("0b11", 0), 3);
  EXPECT_EQ(read("0_0", 0), 0);
  for (const std::string_view bad : {"", "-", "1__0", "_1", "1_", "1.0", "0x1F", "٣a", "1 2"})
    EXPECT_FALSE(read(bad));
  EXPECT_FALSE(read("012", 0));
  EXPECT_FALSE(overflow);
}

TEST(NumberTest, FloatsAreReadAsPythonReadsThem) {
  EXPECT_EQ(parse_float(" -1_0.5e1 "), -105.0);
  EXPECT_EQ(parse_float(".5"), 0.5);
  EXPECT_EQ(parse_float("Infinity"), INFINITY);
  EXPECT_EQ(parse_float("1e999"), INFINITY);
  EXPECT_TRUE(std::isnan(*parse_float("nan")));
  for (const std::string_view bad : {"", "x", "1_", "0x10", "1e", "--1", "1.5.2"})
    EXPECT_FALSE(parse_float(bad));
}

TEST(NumberTest, ComparisonOfIntegerAndFloatIsExact) {
  const Value integer(Integer{9007199254740993}), number(9007199254740992.0);
  EXPECT_TRUE(compare_numbers(integer, number) > 0);
  EXPECT_TRUE(compare_numbers(number, integer) < 0);
  EXPECT_TRUE(compare_numbers(Value(Integer{1}), Value(true)) == 0);
  EXPECT_TRUE(compare_numbers(Value(kGreatest), Value(1e40)) < 0);
  EXPECT_TRUE(compare_numbers(Value(Integer{3}), Value(2.5)) > 0);
  EXPECT_TRUE(compare_numbers(Value(Integer{0}), Value(std::nan(""))) == std::partial_ordering::unordered);
}

TEST(NumberTest, RoundsHalfToEvenOnTheExactValue) {
  EXPECT_EQ(round_float(2.5, 0), 2.0);
  EXPECT_EQ(round_float(2.675, 2), 2.67);
  EXPECT_EQ(round_float(1250.0, -2), 1200.0);
  EXPECT_EQ(round_float(1e308, 400), 1e308);
  EXPECT_EQ(round_float(123.0, -400), 0.0);
}

}  // namespace
}  // namespace tempo9::chat::jinja
