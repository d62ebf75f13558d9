#include "server/api/images.h"

#include <gtest/gtest.h>

namespace tempo9::server {
namespace {

TEST(Base64, DecodesTheStandardsVectors) {
  // RFC 4648, section 10.
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
  EXPECT_EQ(decode_base64("Zm9vYmE="), "fooba");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
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

TEST(Images, OnlyThoseInTheRequestAreTaken) {
  const auto fault = [](std::string_view url) {
    chat::Message message;
    Faults faults;
    const FieldPath path;
    add_image_url(message, url, path, faults);
    EXPECT_EQ(message.content.empty(), faults.first().has_value());
    return faults.first() ? faults.first()->code : ErrorCode::kInternal;
  };
  EXPECT_EQ(fault("data:image/png;base64,cG5n"), ErrorCode::kInternal);
  EXPECT_EQ(fault("https://example.org/a.png"), ErrorCode::kUnsupported);
  EXPECT_EQ(fault("file:///etc/passwd"), ErrorCode::kUnsupported);
  EXPECT_EQ(fault("data:image/png,raw"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(fault("data:image/png;base64"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(fault("data:image/png;base64,"), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tempo9::server
