// Values of every type, written and read back; conversions and their refusals.
#include "gguf/metadata.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "gguf/writer.h"

namespace tempo9::gguf {
namespace {

class MetadataTest : public testing::Test {
 protected:
  const Metadata& read(const Writer& writer) {
    bytes_ = writer.to_bytes({});
    auto file = File::parse(bytes_);
    EXPECT_TRUE(file.has_value()) << file.error().message;
    file_ = *file;
    return file_->metadata();
  }

 private:
  std::vector<uint8_t> bytes_;
  std::shared_ptr<const File> file_;
};

template <class T>
void expect_error(const Result<T>& result, ErrorCode code, std::string_view part) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, code);
  EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}

TEST_F(MetadataTest, EveryIntegerTypeConvertsIfItFits) {
  Writer writer;
  writer.set("u8", uint8_t{255});
  writer.set("u16", uint16_t{65535});
  writer.set("u32", uint32_t{4294967295});
  writer.set("u64", ~uint64_t{0});
  writer.set("i8", int8_t{127});
  writer.set("i16", int16_t{32767});
  writer.set("i32", int32_t{2147483647});
  writer.set("i64", std::numeric_limits<int64_t>::max());
  writer.set("negative", int8_t{-1});
  const Metadata& metadata = read(writer);
  EXPECT_EQ(*metadata.unsigned_integer("u8"), 255u);
  EXPECT_EQ(*metadata.unsigned_integer("u16"), 65535u);
  EXPECT_EQ(*metadata.unsigned_integer("u32"), 4294967295u);
  EXPECT_EQ(*metadata.unsigned_integer("u64"), ~uint64_t{0});
  EXPECT_EQ(*metadata.unsigned_integer("i8"), 127u);
  EXPECT_EQ(*metadata.unsigned_integer("i16"), 32767u);
  EXPECT_EQ(*metadata.unsigned_integer("i32"), 2147483647u);
  EXPECT_EQ(*metadata.unsigned_integer("i64"), 9223372036854775807u);
  expect_error(metadata.unsigned_integer("negative"), ErrorCode::kCorrupt, "'negative' holds -1");
  EXPECT_EQ(*metadata.real("negative"), -1.0);
  EXPECT_EQ(metadata.find("i16")->type, ValueType::kInt16);
  EXPECT_EQ(metadata.entries().size(), 9u);
}

TEST_F(MetadataTest, OtherScalars) {
  Writer writer;
  writer.set("f32", 0.1f);
  writer.set("f64", 0.1);
  writer.set("yes", true);
  writer.set("no", false);
  writer.set("text", "words");
  writer.set("empty", "");
  writer.set("bytes", std::string_view("\xff\0\xfe", 3));  // token pieces need not be UTF-8
  const Metadata& metadata = read(writer);
  EXPECT_EQ(*metadata.real("f32"), static_cast<double>(0.1f));
  EXPECT_EQ(*metadata.real("f64"), 0.1);
  EXPECT_TRUE(*metadata.boolean("yes"));
  EXPECT_FALSE(*metadata.boolean("no"));
  EXPECT_EQ(*metadata.string("text"), "words");
  EXPECT_EQ(*metadata.string("empty"), "");
  EXPECT_EQ(*metadata.string("bytes"), std::string_view("\xff\0\xfe", 3));
  EXPECT_TRUE(metadata.has("no"));
  EXPECT_FALSE(metadata.has("tex"));
  EXPECT_FALSE(metadata.has("texts"));
}

TEST_F(MetadataTest, Arrays) {
  Writer writer;
  writer.set_array("u8", std::vector<uint8_t>{1, 2});
  writer.set_array("i64", std::vector<int64_t>{-5, 5});
  writer.set_array("f64", std::vector<double>{0.5, -2});
  writer.set_array("flags", std::vector<bool>{true, false, true});
  writer.set_array("strings", std::vector<std::string>{"a", "", "ccc"});
  writer.set_array("none", std::vector<uint16_t>{});
  writer.set_array("large", std::vector<uint64_t>{1, uint64_t{1} << 63});
  const Metadata& metadata = read(writer);
  EXPECT_EQ(*metadata.integers("u8"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(*metadata.integers("i64"), (std::vector<int64_t>{-5, 5}));
  EXPECT_EQ(*metadata.reals("f64"), (std::vector<double>{0.5, -2}));
  EXPECT_EQ(*metadata.reals("u8"), (std::vector<double>{1, 2}));
  EXPECT_EQ(*metadata.booleans("flags"), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(*metadata.strings("strings"), (std::vector<std::string_view>{"a", "", "ccc"}));
  EXPECT_TRUE(metadata.integers("none")->empty());
  expect_error(metadata.integers("large"), ErrorCode::kCorrupt, "'large' holds 9223372036854775808");
  EXPECT_EQ(metadata.find("strings")->count, 3u);
  EXPECT_EQ(metadata.find("strings")->element_type, ValueType::kString);
}

TEST_F(MetadataTest, AnotherKindOfValueIsAnErrorThatNamesTheKey) {
  Writer writer;
  writer.set("text", "1");
  writer.set("number", uint32_t{1});
  writer.set("real", 1.0f);
  writer.set("flag", true);
  writer.set_array("numbers", std::vector<int32_t>{1});
  writer.set_array("texts", std::vector<std::string>{"1"});
  const Metadata& metadata = read(writer);
  constexpr auto kCode = ErrorCode::kCorrupt;
  expect_error(metadata.unsigned_integer("text"), kCode, "'text' is of type string; it must be an integer");
  expect_error(metadata.unsigned_integer("real"), kCode, "'real' is of type float32; it must be an integer");
  expect_error(metadata.unsigned_integer("flag"), kCode, "'flag' is of type bool");
  expect_error(metadata.unsigned_integer("numbers"), kCode, "'numbers' is of type array of int32");
  expect_error(metadata.real("flag"), kCode, "it must be a number");
  expect_error(metadata.real("text"), kCode, "it must be a number");
  expect_error(metadata.boolean("number"), kCode, "it must be a boolean");
  expect_error(metadata.string("number"), kCode, "it must be a string");
  expect_error(metadata.string("texts"), kCode, "array of string");
  expect_error(metadata.strings("text"), kCode, "it must be an array of strings");
  expect_error(metadata.strings("numbers"), kCode, "it must be an array of strings");
  expect_error(metadata.integers("number"), kCode, "it must be an array, each element an integer");
  expect_error(metadata.integers("texts"), kCode, "array of string");
  expect_error(metadata.booleans("numbers"), kCode, "it must be a boolean");
}

TEST_F(MetadataTest, AbsentKeys) {
  Writer writer;
  writer.set("text", "x");
  const Metadata& metadata = read(writer);
  expect_error(metadata.string("absent"), ErrorCode::kNotFound, "no key 'absent'");
  expect_error(metadata.unsigned_integer("absent"), ErrorCode::kNotFound, "no key 'absent'");
  expect_error(metadata.strings("absent"), ErrorCode::kNotFound, "no key 'absent'");
  expect_error(metadata.reals("absent"), ErrorCode::kNotFound, "no key 'absent'");
  EXPECT_EQ(*metadata.unsigned_integer_or("absent", 7), 7u);
  EXPECT_EQ(*metadata.real_or("absent", 0.5), 0.5);
  EXPECT_TRUE(*metadata.boolean_or("absent", true));
  EXPECT_EQ(*metadata.string_or("absent", "y"), "y");
  EXPECT_EQ(*metadata.string_or("text", "y"), "x");
  // Present but of another kind is an error all the same.
  expect_error(metadata.unsigned_integer_or("text", 7), ErrorCode::kCorrupt, "'text'");
  expect_error(metadata.real_or("text", 7), ErrorCode::kCorrupt, "'text'");
  expect_error(metadata.boolean_or("text", true), ErrorCode::kCorrupt, "'text'");
}

}  // namespace
}  // namespace tempo9::gguf
