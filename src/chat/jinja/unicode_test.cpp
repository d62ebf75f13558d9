#include "chat/jinja/unicode.h"

#include <gtest/gtest.h>

namespace tempo9::chat::jinja::unicode {
namespace {

TEST(UnicodeTest, DecodesValidCharactersAndTakesOtherBytesOneByOne) {
  EXPECT_EQ(decode("é", 0).value, U'é');
  EXPECT_EQ(decode("漢", 0).length, 3u);
  EXPECT_EQ(decode("👩", 0).value, U'👩');
  for (const std::string_view bad :
       {"\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\x80", "\xE4\xB8"}) {
    EXPECT_EQ(decode(bad, 0).length, 1u);
    EXPECT_FALSE(is_valid(bad));
  }
  EXPECT_TRUE(is_valid("aé漢👩"));
}

TEST(UnicodeTest, EveryCharacterSurvivesEncoding) {
  for (char32_t character = 1; character < 0x110000; character += character < 0x800 ? 1 : 97) {
    if (character >= 0xD800 && character <= 0xDFFF) continue;
    std::string text;
    append(text, character);
    ASSERT_EQ(decode(text, 0).value, character);
    ASSERT_EQ(decode(text, 0).length, text.size());
    ASSERT_EQ(previous("x" + text, 1 + text.size()), 1u);
  }
}

TEST(UnicodeTest, CountsAndFindsByCharacter) {
  EXPECT_EQ(count("aé漢👩"), 4u);
  EXPECT_EQ(offset("aé漢👩", 2), 3u);
  EXPECT_EQ(offset("aé", 9), 3u);
  EXPECT_EQ(previous("aé", 3), 1u);
  EXPECT_EQ(previous("a\x80", 2), 1u);
}

TEST(UnicodeTest, MapsCaseAsPythonDoes) {
  EXPECT_EQ(upper("straße ŉ ﬁ é"), "STRASSE ʼN FI É");
  EXPECT_EQ(lower("ÀΣ Σ ΑΣ. İ"), "àς σ ας. i̇");
  EXPECT_EQ(title("hello wORLD'S ǆ"), "Hello World'S ǅ");
  EXPECT_EQ(capitalize("ﬁX ABC"), "Fix abc");
  EXPECT_EQ(swap_case("aBß"), "AbSS");
  EXPECT_EQ(upper("a\x80z"), "A\x80Z");
}

TEST(UnicodeTest, KnowsClasses) {
  EXPECT_TRUE(is_space(U'\u3000') && is_space(U'\x1c') && !is_space(U'\u200b'));
  EXPECT_TRUE(is_printable(U'é') && !is_printable(U'\u200b') && !is_printable(U'\u00a0') &&
              is_printable(U' '));
  EXPECT_TRUE(is_digit(U'²') && !is_decimal(U'²') && is_numeric(U'½') && is_decimal(U'١'));
}

}  // namespace
}  // namespace tempo9::chat::jinja::unicode
