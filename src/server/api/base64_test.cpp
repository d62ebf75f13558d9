#include "server/api/base64.h"

#include <gtest/gtest.h>

#include <utility>

namespace tempo9::server {
namespace {

// RFC 4648, section 10.
constexpr std::pair<const char*, const char*> kVectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
};

TEST(Base64, AgreesWithTheStandardsVectors) {
  for (const auto& [bytes, text] : kVectors) {
    EXPECT_EQ(decode_base64(text), bytes);
    EXPECT_EQ(encode_base64(bytes), text);
  }
}

TEST(Base64, GivesEveryByteBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (size_t begin = 0; begin < 3; ++begin)
    EXPECT_EQ(decode_base64(encode_base64(bytes.substr(begin))), bytes.substr(begin));
}

TEST(Base64, TakesBothAlphabetsLineBreaksAndNoPadding) {
  EXPECT_EQ(decode_base64("+/+/"), "\xFB\xFF\xBF");
  EXPECT_EQ(decode_base64("-_-_"), "\xFB\xFF\xBF");
  EXPECT_EQ(decode_base64("Zm9v\r\nYg"), "foob");
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"Z", "Zm9vY", "Zg=", "Zg===", "Zg==Zg==", "Zm 9", "Zm9*", "=", "\xC3\xA9"})
    EXPECT_FALSE(decode_base64(text)) << text;
}

TEST(PackedReasoning, IsKnownFromThatOfOthers) {
  EXPECT_EQ(unpack_reasoning(pack_reasoning("why\n\xC3\xA9")), "why\n\xC3\xA9");
  EXPECT_FALSE(unpack_reasoning("gAAAAABo"));
  EXPECT_FALSE(unpack_reasoning(""));
}

}  // namespace
}  // namespace tempo9::server
