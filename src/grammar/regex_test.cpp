#include "grammar/regex.h"

#include <gtest/gtest.h>

#include "grammar/testing/acceptance.h"
#include "grammar/utf8.h"

namespace tempo9::grammar {
namespace {

bool matches(std::string_view source, std::string_view text, RegexMatch match = RegexMatch::kAnywhere) {
  const auto regex = parse_regex(source, match);
  EXPECT_TRUE(regex) << source << ": " << regex.error().message;
  return regex && matches(*regex, code_points(text));
}

std::string refusal(std::string_view source) {
  const auto regex = parse_regex(source, RegexMatch::kAnywhere);
  return regex ? "" : regex.error().message;
}

TEST(Regex, IsFoundAnywhereUnlessItIsAnchored) {
  EXPECT_TRUE(matches("b+", "abbc"));
  EXPECT_FALSE(matches("^b+", "abbc"));
  EXPECT_TRUE(matches("^b+", "bbc"));
  EXPECT_TRUE(matches("b+$", "abb"));
  EXPECT_FALSE(matches("^b+$", "abb"));
  EXPECT_TRUE(matches("^a|b$", "ax"));
  EXPECT_TRUE(matches("^a|b$", "xb"));
  EXPECT_FALSE(matches("^a|b$", "xax"));
  EXPECT_TRUE(matches("^(a|b$)", "ax"));
  EXPECT_FALSE(matches("^(a|b$)", "bx"));
  EXPECT_TRUE(matches("", "anything\n"));
  EXPECT_TRUE(matches("^$", ""));
  EXPECT_FALSE(matches("^$", "a"));
  EXPECT_FALSE(matches("b", "abc", RegexMatch::kWhole));
  EXPECT_TRUE(matches("^b$", "b", RegexMatch::kWhole));
}

TEST(Regex, KnowsClassesEscapesAndRepeats) {
  EXPECT_TRUE(matches("^[^a-c\\d-]{2,3}$", "xyz"));
  EXPECT_FALSE(matches("^[^a-c\\d-]{2,3}$", "x-"));
  EXPECT_TRUE(matches("^\\x41\\u0042\\u{1F600}\\uD83D\\uDE00\\cJ$", "AB\U0001F600\U0001F600\n"));
  EXPECT_TRUE(matches("^(?:ab)*?(?<n>c)+$", "ababcc"));
  EXPECT_TRUE(matches("^a{,2}$", "a{,2}"));
  EXPECT_TRUE(matches("^.$", "\u00e9"));
  EXPECT_FALSE(matches("^.$", "\n"));
  EXPECT_TRUE(matches("^[\\s\\S]$", "\n"));
  EXPECT_TRUE(matches("^\\S+\\s\\w\\W$", "\u4e2d\u3000a!"));
}

TEST(Regex, RefusesByName) {
  EXPECT_NE(refusal("(a)\\1").find("'\\1'"), std::string::npos);
  EXPECT_NE(refusal("a(?=b)").find("'(?='"), std::string::npos);
  EXPECT_NE(refusal("(?<!a)b").find("looking behind"), std::string::npos);
  EXPECT_NE(refusal("\\bword").find("'\\b'"), std::string::npos);
  EXPECT_NE(refusal("\\p{L}").find("'\\p'"), std::string::npos);
  EXPECT_NE(refusal("a^b").find("'^'"), std::string::npos);
  EXPECT_NE(refusal("(a$)+").find("'$'"), std::string::npos);
  for (const std::string_view broken :
       {"(", ")", "[", "a**", "*a", "[b-a]", "a{3,2}", "\\", "\\uD800", "[\\d-z]"})
    EXPECT_NE(refusal(broken), "") << broken;
  EXPECT_NE(refusal("((a{1000}){1000}){1000}").find("131072"), std::string::npos);
  EXPECT_NE(refusal(std::string(1000, '(')), "");
}

TEST(Regex, TellsHowLongItsTextsAre) {
  const auto length = [](std::string_view source) {
    return lengths(*parse_regex(source, RegexMatch::kWhole));
  };
  EXPECT_EQ(length("a{2,5}(b|cc)").least, 3);
  EXPECT_EQ(length("a{2,5}(b|cc)").most, 7);
  EXPECT_EQ(length("ab*").least, 1);
  EXPECT_EQ(length("ab*").most, std::nullopt);
}

TEST(Regex, TakesBoundsOfLengthIntoItsOnlyRepeat) {
  const auto bounded = [](std::string_view source, int64_t least, int64_t most, std::string_view text) {
    const auto changed = with_lengths(*parse_regex(source, RegexMatch::kWhole), {least, most});
    return changed ? matches(*changed, code_points(text)) ? "yes" : "no" : "refused";
  };
  EXPECT_STREQ(bounded("[a-z]+", 0, 3, "abc"), "yes");
  EXPECT_STREQ(bounded("[a-z]+", 0, 3, "abcd"), "no");
  EXPECT_STREQ(bounded("x-[a-z]*", 4, 5, "x-a"), "no");
  EXPECT_STREQ(bounded("x-[a-z]*", 4, 5, "x-ab"), "yes");
  EXPECT_STREQ(bounded("x-[a-z]*", 4, 5, "x-abcd"), "no");
  EXPECT_STREQ(bounded("[0-9]{4}", 0, 10, "1234"), "yes");
  EXPECT_STREQ(bounded("[0-9]{4}", 5, 10, "1234"), "refused");
  EXPECT_STREQ(bounded("a+b+", 0, 10, "ab"), "refused");
}

TEST(Regex, IsSpeltAsItStandsInAJsonString) {
  const auto accepts = [](std::string_view pattern, std::string_view text) {
    return testing::Acceptance(schema_form({{"type", "string"}, {"pattern", pattern}}, "s")).accepts(text);
  };
  EXPECT_TRUE(accepts("^[\"\\\\\n]+$", R"("\"\\\n")"));
  EXPECT_FALSE(accepts("^[\"\\\\\n]+$", R"(""")"));
  EXPECT_TRUE(accepts("^.$", "\"\u00e9\""));
  EXPECT_TRUE(accepts("\\S", "\"  word  \""));
  EXPECT_FALSE(accepts("\\S", "\"   \""));
  EXPECT_FALSE(accepts("^[\\x00-\\x1F]$", "\"\x01\""));
  EXPECT_TRUE(testing::Acceptance({Form::Kind::kRegex, "[\"\\\\]{2}"}).accepts("\"\\"));
}

}  // namespace
}  // namespace tempo9::grammar
