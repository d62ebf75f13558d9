// Files that contradict themselves: each is refused with a message that names what is wrong, and where.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/file.h"

namespace tempo9::gguf {
namespace {

// A file written field by field, so that any field may lie.
class Raw {
 public:
  Raw& u32(uint32_t value) { return put(&value, sizeof(value)); }
  Raw& u64(uint64_t value) { return put(&value, sizeof(value)); }
  Raw& bytes(std::string_view text) { return put(text.data(), text.size()); }
  Raw& text(std::string_view text) { return u64(text.size()).bytes(text); }
  Raw& zeros(size_t count) { return bytes(std::string(count, '\0')); }
  Raw& header(uint64_t tensors, uint64_t entries, uint32_t version = 3) {
    return bytes("GGUF").u32(version).u64(tensors).u64(entries);
  }
  Raw& tensor(std::string_view name, const std::vector<uint64_t>& shape, uint32_t type, uint64_t offset) {
    text(name).u32(static_cast<uint32_t>(shape.size()));
    for (uint64_t size : shape) u64(size);
    return u32(type).u64(offset);
  }
  Raw& align(size_t alignment = 32) { return zeros((alignment - bytes_.size() % alignment) % alignment); }
  const std::vector<uint8_t>& get() const { return bytes_; }

 private:
  Raw& put(const void* data, size_t count) {
    const auto* begin = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), begin, begin + count);
    return *this;
  }
  std::vector<uint8_t> bytes_;
};

constexpr uint32_t kUint32 = 4, kFloat32 = 6, kBool = 7, kString = 8, kArray = 9;

struct Case {
  const char* name;
  std::function<void(Raw&)> write;
  ErrorCode code;
  const char* message;  // a part of it
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

// Room for tensor data, so that a case fails for the reason it is named after.
Raw& with_data(Raw& raw) {
  return raw.align().zeros(4096);
}

void one_entry(Raw& raw, std::string_view key) {
  raw.header(0, 1).text(key);
}

void one_tensor(Raw& raw, const std::vector<uint64_t>& shape, uint32_t type, uint64_t offset) {
  with_data(raw.header(1, 0).tensor("t", shape, type, offset));
}

const Case kCases[] = {
    // Header.
    {"Empty", [](Raw&) {}, ErrorCode::kCorrupt, "the file has only 0 bytes"},
    {"FourBytes", [](Raw& r) { r.bytes("GGUF"); }, ErrorCode::kCorrupt, "ends inside the header"},
    {"OtherMagic", [](Raw& r) { r.bytes("GGML").zeros(64); }, ErrorCode::kCorrupt, "not a GGUF file"},
    {"Version1", [](Raw& r) { r.bytes("GGUF").u32(1).zeros(64); }, ErrorCode::kUnsupported,
     "version 1 is too old"},
    {"Version4", [](Raw& r) { r.header(0, 0, 4); }, ErrorCode::kUnsupported, "version 4 is unknown"},
    {"Version0", [](Raw& r) { r.header(0, 0, 0); }, ErrorCode::kUnsupported, "version 0 is unknown"},
    {"BigEndian", [](Raw& r) { r.header(0, 0, 0x03000000); }, ErrorCode::kUnsupported, "big-endian"},
    {"CountsCutOff", [](Raw& r) { r.bytes("GGUF").u32(3).u64(0).u32(0); }, ErrorCode::kCorrupt,
     "ends inside the header"},
    {"TensorCountHuge", [](Raw& r) { r.header(uint64_t{1} << 60, 0).zeros(1000); }, ErrorCode::kCorrupt,
     "announces 1152921504606846976 tensors"},
    {"TensorCountAllOnes", [](Raw& r) { r.header(~uint64_t{0}, 0).zeros(1000); }, ErrorCode::kCorrupt,
     "announces 18446744073709551615 tensors"},
    {"TensorCountOneTooMany", [](Raw& r) { r.header(2, 0).tensor("t", {1}, 0, 0).zeros(32); },
     ErrorCode::kCorrupt, "announces 2 tensors"},
    {"EntryCountHuge", [](Raw& r) { r.header(0, uint64_t{1} << 60).zeros(1000); }, ErrorCode::kCorrupt,
     "announces 1152921504606846976 metadata entries"},
    {"EntryCountBeyondLimit", [](Raw& r) { r.header(0, 65537).zeros(65537 * 14); }, ErrorCode::kCorrupt,
     "announces 65537 metadata entries"},
    // Metadata.
    {"KeyLengthHuge", [](Raw& r) { r.header(0, 1).u64(uint64_t{1} << 60).zeros(64); }, ErrorCode::kCorrupt,
     "ends inside metadata entry 0"},
    {"KeyLengthWraps", [](Raw& r) { r.header(0, 1).u64(~uint64_t{0} - 7).zeros(64); }, ErrorCode::kCorrupt,
     "ends inside metadata entry 0"},
    {"KeyTooLong", [](Raw& r) { r.header(0, 1).text(std::string(65536, 'k')).u32(kUint32).u32(0); },
     ErrorCode::kCorrupt, "metadata entry 0 has 65536 bytes; at most 65535"},
    {"KeyEmpty", [](Raw& r) { r.header(0, 1).text("").u32(kUint32).u32(0).zeros(8); }, ErrorCode::kCorrupt,
     "metadata entry 0 has an empty name"},
    {"KeyNotUtf8", [](Raw& r) { r.header(0, 1).text("a\xff\x1b[2J").u32(kUint32).u32(0); },
     ErrorCode::kCorrupt, "the name of metadata entry 0, 'a\\xff\\u{1b}[2J', is not UTF-8"},
    {"KeyTwice",
     [](Raw& r) { r.header(0, 2).text("k").u32(kUint32).u32(1).text("k").u32(kString).text("v"); },
     ErrorCode::kCorrupt, "the key 'k' appears twice"},
    {"ValueTypeUnknown", [](Raw& r) { one_entry(r, "k"), r.u32(13).u64(0); }, ErrorCode::kCorrupt,
     "the key 'k' has a value of the unknown type 13"},
    {"ElementTypeUnknown", [](Raw& r) { one_entry(r, "k"), r.u32(kArray).u32(99).u64(0); },
     ErrorCode::kCorrupt, "the unknown type 99"},
    {"ArrayOfArrays", [](Raw& r) { one_entry(r, "k"), r.u32(kArray).u32(kArray).u64(1).u32(kUint32).u64(0); },
     ErrorCode::kUnsupported, "the key 'k' is an array of arrays"},
    {"BoolIsTwo", [](Raw& r) { one_entry(r, "k"), r.u32(kBool).bytes("\x02"); }, ErrorCode::kCorrupt,
     "the key 'k' has a boolean of value 2"},
    {"BoolInArrayIsTwo",
     [](Raw& r) { one_entry(r, "k"), r.u32(kArray).u32(kBool).u64(3).bytes(std::string_view("\0\1\2", 3)); },
     ErrorCode::kCorrupt, "the key 'k' has a boolean of value 2"},
    {"StringLengthHuge", [](Raw& r) { one_entry(r, "k"), r.u32(kString).u64(uint64_t{1} << 60).zeros(64); },
     ErrorCode::kCorrupt, "ends inside the key 'k'"},
    {"StringLengthAllOnes", [](Raw& r) { one_entry(r, "k"), r.u32(kString).u64(~uint64_t{0}).zeros(64); },
     ErrorCode::kCorrupt, "ends inside the key 'k'"},
    {"ArrayCountHuge",
     [](Raw& r) { one_entry(r, "k"), r.u32(kArray).u32(kFloat32).u64(uint64_t{1} << 62).zeros(64); },
     ErrorCode::kCorrupt, "ends inside the key 'k'"},
    {"StringArrayCountHuge",
     [](Raw& r) { one_entry(r, "k"), r.u32(kArray).u32(kString).u64(uint64_t{1} << 60).zeros(64); },
     ErrorCode::kCorrupt, "ends inside the key 'k'"},
    {"StringInArrayTooLong",
     [](Raw& r) { one_entry(r, "k"), r.u32(kArray).u32(kString).u64(2).text("a").u64(1000).zeros(9); },
     ErrorCode::kCorrupt, "ends inside the key 'k'"},
    // Alignment.
    {"AlignmentZero", [](Raw& r) { one_entry(r, "general.alignment"), r.u32(kUint32).u32(0); },
     ErrorCode::kCorrupt, "the alignment ('general.alignment') is 0"},
    {"AlignmentNoPowerOfTwo", [](Raw& r) { one_entry(r, "general.alignment"), r.u32(kUint32).u32(48); },
     ErrorCode::kCorrupt, "is 48; it must be a power of two"},
    {"AlignmentSmall", [](Raw& r) { one_entry(r, "general.alignment"), r.u32(kUint32).u32(4); },
     ErrorCode::kCorrupt, "is 4; it must be a power of two from 8"},
    {"AlignmentHuge", [](Raw& r) { one_entry(r, "general.alignment"), r.u32(kUint32).u32(1u << 31); },
     ErrorCode::kCorrupt, "is 2147483648"},
    {"AlignmentIsText", [](Raw& r) { one_entry(r, "general.alignment"), r.u32(kString).text("32"); },
     ErrorCode::kCorrupt, "'general.alignment' is not an unsigned 32-bit integer"},
    {"AlignmentIsArray", [](Raw& r) { one_entry(r, "general.alignment"), r.u32(kArray).u32(kUint32).u64(0); },
     ErrorCode::kCorrupt, "'general.alignment' is not an unsigned 32-bit integer"},
    // Tensors.
    {"TensorNameHuge", [](Raw& r) { with_data(r.header(1, 0).u64(uint64_t{1} << 60)); }, ErrorCode::kCorrupt,
     "ends inside tensor 0"},
    {"TensorNameTooLong", [](Raw& r) { with_data(r.header(1, 0).tensor(std::string(1025, 't'), {1}, 0, 0)); },
     ErrorCode::kCorrupt, "the name of tensor 0 has 1025 bytes; at most 1024"},
    {"TensorNameEmpty", [](Raw& r) { with_data(r.header(1, 0).tensor("", {1}, 0, 0)); }, ErrorCode::kCorrupt,
     "tensor 0 has an empty name"},
    {"TensorNameNotUtf8", [](Raw& r) { with_data(r.header(1, 0).tensor("\xc0\x80", {1}, 0, 0)); },
     ErrorCode::kCorrupt, "'\\xc0\\x80', is not UTF-8"},
    {"TensorTwice", [](Raw& r) { with_data(r.header(2, 0).tensor("t", {1}, 0, 0).tensor("t", {1}, 0, 32)); },
     ErrorCode::kCorrupt, "the tensor 't' appears twice"},
    {"NoDimensions", [](Raw& r) { one_tensor(r, {}, 0, 0); }, ErrorCode::kCorrupt,
     "tensor 't' has 0 dimensions"},
    {"FiveDimensions",
     [](Raw& r) {
       one_tensor(r, {1, 1, 1, 1, 1}, 0, 0);
     },
     ErrorCode::kCorrupt, "tensor 't' has 5 dimensions"},
    {"DimensionCountHuge", [](Raw& r) { with_data(r.header(1, 0).text("t").u32(0xffffffff)); },
     ErrorCode::kCorrupt, "tensor 't' has 4294967295 dimensions"},
    {"DimensionZero",
     [](Raw& r) {
       one_tensor(r, {32, 0}, 0, 0);
     },
     ErrorCode::kCorrupt, "tensor 't' has a dimension of size 0"},
    {"ProductWrapsToZero",
     [](Raw& r) {
       one_tensor(r, {uint64_t{1} << 32, uint64_t{1} << 32}, 0, 0);
     },
     ErrorCode::kCorrupt, "tensor 't' has more elements than can be counted: 4294967296 x 4294967296"},
    {"ProductWrapsToSmall",
     [](Raw& r) {
       one_tensor(r, {32, (uint64_t{1} << 59) + 1}, 0, 0);
     },
     ErrorCode::kCorrupt, "tensor 't' has more elements than can be counted"},
    {"BytesWrap", [](Raw& r) { one_tensor(r, {uint64_t{1} << 62}, 0, 0); }, ErrorCode::kCorrupt,
     "tensor 't' has more bytes than can be counted"},
    {"RowsAreNotBlocks",
     [](Raw& r) {
       one_tensor(r, {48, 2}, 2, 0);
     },
     ErrorCode::kCorrupt, "tensor 't' has rows of 48 elements, which are not whole Q4_0 blocks of 32"},
    {"TypeUnknown", [](Raw& r) { one_tensor(r, {32}, 77, 0); }, ErrorCode::kUnsupported,
     "tensor 't' has type 77, which GGUF does not define"},
    {"TypeWithdrawn", [](Raw& r) { one_tensor(r, {32}, 4, 0); }, ErrorCode::kUnsupported,
     "tensor 't' has type Q4_2, which GGUF has withdrawn"},
    {"OffsetUnaligned", [](Raw& r) { one_tensor(r, {4}, 0, 16); }, ErrorCode::kCorrupt,
     "tensor 't' begins at byte 16 of the tensor data, which is not a multiple of 32"},
    {"OffsetPastTheEnd", [](Raw& r) { one_tensor(r, {4}, 0, 8192); }, ErrorCode::kCorrupt,
     "tensor 't' needs 16 bytes from byte 8192 of the tensor data, which has 4096"},
    {"OffsetWraps", [](Raw& r) { one_tensor(r, {8}, 0, ~uint64_t{31}); }, ErrorCode::kCorrupt,
     "tensor 't' needs 32 bytes from byte 18446744073709551584"},
    {"DataPastTheEnd", [](Raw& r) { one_tensor(r, {1025}, 0, 0); }, ErrorCode::kCorrupt,
     "tensor 't' needs 4100 bytes from byte 0 of the tensor data, which has 4096"},
    {"NoData", [](Raw& r) { r.header(1, 0).tensor("t", {1}, 0, 0); }, ErrorCode::kCorrupt,
     "of the tensor data, which has 0 bytes"},
    {"TensorsOverlap",
     [](Raw& r) { with_data(r.header(2, 0).tensor("a", {16}, 0, 0).tensor("b", {16}, 0, 32)); },
     ErrorCode::kCorrupt, "the tensors 'a' and 'b' overlap"},
    {"TensorsShareTheirData",
     [](Raw& r) { with_data(r.header(2, 0).tensor("a", {16}, 0, 64).tensor("b", {16}, 0, 64)); },
     ErrorCode::kCorrupt, "overlap"},
    // Split series.
    {"OneOfASeries", [](Raw& r) { one_entry(r, "split.count"), r.u32(kUint32).u32(3); },
     ErrorCode::kInvalidArgument, "one file of a series of 3"},
    {"SeriesTooLong", [](Raw& r) { one_entry(r, "split.count"), r.u32(kUint32).u32(1025); },
     ErrorCode::kUnsupported, "'split.count' is 1025; series of at most 1024"},
    {"SeriesCountIsText", [](Raw& r) { one_entry(r, "split.count"), r.u32(kString).text("3"); },
     ErrorCode::kCorrupt, "'split.count' is of type string"},
};

class Hostile : public testing::TestWithParam<Case> {};

TEST_P(Hostile, IsRefusedByName) {
  Raw raw;
  GetParam().write(raw);
  const auto file = File::parse(raw.get());
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find(GetParam().message), std::string::npos) << file.error().message;
  EXPECT_EQ(file.error().code, GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(Gguf, Hostile, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

// What the cases above are near to and what real files do.
TEST(Tolerated, QuirksOfRealFiles) {
  const auto accepts = [](const std::function<void(Raw&)>& write) {
    Raw raw;
    write(raw);
    const auto file = File::parse(raw.get());
    EXPECT_TRUE(file.has_value()) << file.error().message;
  };
  accepts([](Raw& r) { r.header(0, 0); });
  accepts([](Raw& r) { r.header(0, 0, 2); });
  accepts([](Raw& r) { one_entry(r, "split.count"), r.u32(kUint32).u32(0); });
  accepts([](Raw& r) { one_entry(r, "k"), r.u32(kArray).u32(kString).u64(0); });
  accepts([](Raw& r) { one_entry(r, "\xe2\x82\xac"), r.u32(kString).text("\xff"); });
  accepts([](Raw& r) { one_entry(r, std::string(65535, 'k')), r.u32(kBool).bytes("\1"); });
  // The last tensor without padding; data in another order than the descriptions, with a gap.
  accepts([](Raw& r) { r.header(1, 0).tensor("t", {1, 1, 1, 1}, 0, 0).align().zeros(4); });
  accepts([](Raw& r) { with_data(r.header(2, 0).tensor("a", {16}, 0, 256).tensor("b", {16}, 0, 0)); });
  accepts([](Raw& r) { with_data(r.header(1, 0).tensor(std::string(1024, 't'), {1}, 0, 0)); });
}

// Cut anywhere, a file is refused, and the message says that bytes are missing.
TEST(CutOff, AtEveryLength) {
  Raw raw;
  raw.header(2, 3).text("first.key").u32(kString).text("some text").text("second").u32(kArray).u32(kString);
  raw.u64(2).text("a").text("bc").text("third").u32(kArray).u32(kFloat32).u64(2).u64(0);
  raw.tensor("one", {32, 2}, 2, 0).tensor("two", {3, 1, 2}, 0, 64).align().zeros(64 + 24);
  const std::span<const uint8_t> whole(raw.get());
  ASSERT_TRUE(File::parse(whole).has_value());
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto file = File::parse(whole.first(length));
    ASSERT_FALSE(file.has_value()) << length;
    const std::string& message = file.error().message;
    const bool says_so = message.find("cut off") != std::string::npos ||
                         message.find("announces") != std::string::npos ||
                         message.find("the file has only") != std::string::npos;
    EXPECT_TRUE(says_so) << length << ": " << message;
    EXPECT_EQ(file.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace tempo9::gguf
