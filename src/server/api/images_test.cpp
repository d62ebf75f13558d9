#include "server/api/images.h"

#include <gtest/gtest.h>

namespace tempo9::server {
namespace {

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
