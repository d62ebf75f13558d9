#include "grammar/number_range.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grammar/testing/acceptance.h"

namespace tempo9::grammar {
namespace {

using testing::Acceptance;

TEST(Decimal, ReadsEveryNotation) {
  const auto show = [](std::string_view number) {
    const auto decimal = parse_decimal(number);
    return decimal ? (decimal->negative ? "-" : "") + decimal->whole + "." + decimal->fraction : "none";
  };
  EXPECT_EQ(show("0"), "0.");
  EXPECT_EQ(show("-0.0"), "0.");
  EXPECT_EQ(show("-12.340"), "-12.34");
  EXPECT_EQ(show("1e3"), "1000.");
  EXPECT_EQ(show("1.25E+1"), "12.5");
  EXPECT_EQ(show("5e-3"), "0.005");
  EXPECT_EQ(show("1e99999"), "none");
  EXPECT_EQ(show("1e308"), "none");
}

// Every integer from -130 to 130, against the comparison it stands for.
TEST(NumberRange, HoldsExactlyTheIntegersWithin) {
  for (const auto& [low, high] :
       {std::pair{-7, 7}, {0, 100}, {1, 99}, {-105, -12}, {9, 10}, {-1, 0}, {42, 42}}) {
    const Acceptance range(schema_form({{"type", "integer"}, {"minimum", low}, {"maximum", high}}, "s"));
    for (int value = -130; value <= 130; ++value)
      EXPECT_EQ(range.accepts(std::to_string(value)), low <= value && value <= high)
          << value << " in " << low << ".." << high;
    EXPECT_FALSE(range.accepts("-0"));
    EXPECT_FALSE(range.accepts("007"));
  }
}

TEST(NumberRange, HoldsExactlyTheDecimalsWithin) {
  const Acceptance closed = Acceptance::of_schema(R"({"type":"number","minimum":-1.25,"maximum":2.5})");
  const Acceptance open =
      Acceptance::of_schema(R"({"type":"number","exclusiveMinimum":-1.25,"exclusiveMaximum":2.5})");
  for (int hundredths = -300; hundredths <= 300; ++hundredths) {
    const std::string text = fmt::format("{:.2f}", hundredths / 100.0);
    if (hundredths == 0) continue;
    EXPECT_EQ(closed.accepts(text), -125 <= hundredths && hundredths <= 250 && text != "2.50") << text;
    EXPECT_EQ(open.accepts(text), -125 < hundredths && hundredths < 250) << text;
  }
  for (const char* text : {"0", "0.0", "2", "-1", "2.499999", "-1.249999", "0.000001"}) {
    EXPECT_TRUE(closed.accepts(text)) << text;
    EXPECT_TRUE(open.accepts(text)) << text;
  }
  for (const char* text : {"2.500001", "-1.250001", "3", "-2", "10", "-10", "1e0", ".5", "00"}) {
    EXPECT_FALSE(closed.accepts(text)) << text;
    EXPECT_FALSE(open.accepts(text)) << text;
  }
  EXPECT_TRUE(closed.accepts("2.5") && closed.accepts("-1.25"));
  EXPECT_FALSE(open.accepts("2.5") || open.accepts("-1.25"));
}

TEST(NumberRange, MayBeOpenOnOneSide) {
  const Acceptance above = Acceptance::of_schema(R"({"type":"number","exclusiveMinimum":0})");
  for (const char* text : {"0.000001", "0.5", "1", "123456789012345678"})
    EXPECT_TRUE(above.accepts(text)) << text;
  for (const char* text : {"0", "0.0", "-1", "-0.5", "1234567890123456789"})
    EXPECT_FALSE(above.accepts(text)) << text;
  const Acceptance below = Acceptance::of_schema(R"({"type":"integer","maximum":-10})");
  for (const char* text : {"-10", "-11", "-99", "-100"}) EXPECT_TRUE(below.accepts(text)) << text;
  for (const char* text : {"-9", "0", "10", "-1"}) EXPECT_FALSE(below.accepts(text)) << text;
}

TEST(NumberRange, WithoutBoundsHasExponents) {
  const Acceptance any = Acceptance::of_schema(R"({"type":"number"})");
  for (const char* text : {"0", "-0", "1.5", "-12e3", "1.5E-10"}) EXPECT_TRUE(any.accepts(text)) << text;
  for (const char* text : {"01", "+1", "1.", "1e", "1e400", "NaN"}) EXPECT_FALSE(any.accepts(text)) << text;
}

TEST(NumberRange, KnowsWhenNothingIsWithin) {
  EXPECT_NE(Acceptance::of_schema(R"({"type":"number","minimum":2,"maximum":1})").error(), "");
  EXPECT_NE(Acceptance::of_schema(R"({"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2})").error(),
            "");
  EXPECT_NE(Acceptance::of_schema(R"({"type":"number","exclusiveMinimum":1,"maximum":1})").error(), "");
}

TEST(NumberRange, KeepsMultiples) {
  const Acceptance fives = Acceptance::of_schema(R"({"type":"integer","multipleOf":5,"minimum":0})");
  const Acceptance few =
      Acceptance::of_schema(R"({"type":"number","multipleOf":7,"minimum":-14.5,"exclusiveMaximum":21})");
  for (int value = -50; value <= 200; ++value) {
    EXPECT_EQ(fives.accepts(std::to_string(value)), value >= 0 && value % 5 == 0) << value;
    EXPECT_EQ(few.accepts(std::to_string(value)), value >= -14 && value < 21 && value % 7 == 0) << value;
  }
  EXPECT_NE(Acceptance::of_schema(R"({"type":"number","multipleOf":0.01})").error().find("'multipleOf'"),
            std::string::npos);
}

}  // namespace
}  // namespace tempo9::grammar
