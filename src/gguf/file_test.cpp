// Files on disk and in memory, as written by Writer: tensors, lookup, split series, shrinking under the
// mapping.
#include "gguf/file.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gguf/writer.h"

namespace tempo9::gguf {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr uint32_t kF32 = 0, kQ4_0 = 2, kIQ2_XXS = 16;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / fmt::format("gguf_{}_{}", test->name(), ::getpid());
    std::filesystem::create_directories(folder_);
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::string save(const std::string& name, const Bytes& bytes) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  void expect_refused(const std::string& path, std::string_view part) {
    const auto file = File::open(path);
    ASSERT_FALSE(file.has_value());
    EXPECT_NE(file.error().message.find(part), std::string::npos) << file.error().message;
  }

  std::filesystem::path folder_;
};

Bytes filled(uint64_t count, uint8_t value) {
  return Bytes(count, value);
}

// Two tensors out of alphabetical order, one of a type that is not computed with.
Bytes small_model(uint32_t alignment) {
  Writer writer(alignment);
  writer.set("general.architecture", "test");
  const auto z = writer.add_tensor("z", kQ4_0, std::vector<uint64_t>{64, 3});
  const auto a = writer.add_tensor("a", kF32, std::vector<uint64_t>{5, 2, 3, 4});
  const auto m = writer.add_tensor("m", kIQ2_XXS, std::vector<uint64_t>{256});
  return writer.to_bytes(std::vector{filled(z, 1), filled(a, 2), filled(m, 3)});
}

void expect_small_model(const File& file, const MappedFile* mapping) {
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].name, "z");  // file order
  const Tensor* z = file.find_tensor("z");
  ASSERT_NE(z, nullptr);
  EXPECT_EQ(z->columns(), 64u);
  EXPECT_EQ(z->rows(), 3u);
  EXPECT_EQ(z->dimensions, 2);
  EXPECT_EQ(z->file, mapping);
  EXPECT_EQ(Bytes(z->data.begin(), z->data.end()), filled(3 * 36, 1));
  const Tensor* a = file.find_tensor("a");
  EXPECT_EQ(a->shape, (std::array<uint64_t, 4>{5, 2, 3, 4}));
  EXPECT_EQ(a->rows(), 24u);
  EXPECT_EQ(Bytes(a->data.begin(), a->data.end()), filled(480, 2));
  const Tensor* m = file.find_tensor("m");
  EXPECT_EQ(Bytes(m->data.begin(), m->data.end()), filled(66, 3));
  EXPECT_EQ(quant::find_format(m->type), nullptr);
  for (const char* absent : {"", "b", "zz"}) EXPECT_EQ(file.find_tensor(absent), nullptr);
}

TEST_F(FileTest, TensorsInMemoryAndMapped) {
  for (uint32_t alignment : {8u, 32u, 4096u}) {
    const Bytes bytes = small_model(alignment);
    const auto parsed = File::parse(bytes);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    expect_small_model(**parsed, nullptr);
    EXPECT_EQ((*parsed)->version(), 3u);
    EXPECT_EQ((*parsed)->alignment(), alignment);
    EXPECT_EQ((*parsed)->total_bytes(), bytes.size());
    for (const Tensor& tensor : (*parsed)->tensors())
      EXPECT_EQ((tensor.data.data() - bytes.data()) % alignment, 0) << tensor.name;

    const auto opened = File::open(save("model.gguf", bytes));
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    const MappedFile* mapping = (*opened)->tensors()[0].file;
    ASSERT_NE(mapping, nullptr);
    expect_small_model(**opened, mapping);
    EXPECT_TRUE((*opened)->still_whole().has_value());
  }
}

TEST_F(FileTest, ErrorsNameThePath) {
  expect_refused((folder_ / "absent.gguf").string(), "absent.gguf");
  expect_refused(save("empty.gguf", {}), "empty.gguf': the file has only 0 bytes");
  expect_refused(folder_.string(), "is not a regular file");
}

TEST_F(FileTest, AShrunkFileIsNoticed) {
  const std::string path = save("model.gguf", small_model(32));
  const auto file = File::open(path);
  ASSERT_TRUE(file.has_value());
  std::filesystem::resize_file(path, 100);
  const Status status = (*file)->still_whole();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
}

TEST_F(FileTest, StreamedInPiecesGivesTheSameBytes) {
  const Bytes expected = small_model(64);
  Writer writer(64);
  writer.set("general.architecture", "test");
  Bytes data;
  const auto add = [&](std::string_view name, uint32_t type, const std::vector<uint64_t>& shape,
                       uint8_t fill) {
    const Bytes bytes = filled(writer.add_tensor(name, type, shape), fill);
    data.insert(data.end(), bytes.begin(), bytes.end());
  };
  add("z", kQ4_0, {64, 3}, 1);
  add("a", kF32, {5, 2, 3, 4}, 2);
  add("m", kIQ2_XXS, {256}, 3);
  const std::string path = (folder_ / "streamed.gguf").string();
  for (size_t piece : {1, 7, 108, 109, 100000}) {
    auto stream = FileWriter::create(path, writer);
    ASSERT_TRUE(stream.has_value()) << stream.error().message;
    for (size_t at = 0; at < data.size(); at += piece)
      ASSERT_TRUE(stream->append(std::span(data).subspan(at, std::min(piece, data.size() - at))).has_value());
    ASSERT_TRUE(stream->finish().has_value());
    std::ifstream file(path, std::ios::binary);
    EXPECT_EQ(Bytes(std::istreambuf_iterator<char>(file), {}), expected) << piece;
  }
  EXPECT_FALSE(FileWriter::create((folder_ / "no" / "such" / "folder").string(), writer).has_value());
}

// One member of a series; `tensor` is the name of its only tensor.
Bytes member(uint16_t number, uint16_t count, std::string_view tensor, int32_t total) {
  Writer writer(number == 0 ? 64 : 32);  // each file has its own alignment
  if (number == 0) writer.set("general.architecture", "test");
  writer.set("split.no", number);
  writer.set("split.count", count);
  writer.set("split.tensors.count", total);
  const auto bytes = writer.add_tensor(tensor, kF32, std::vector<uint64_t>{3});
  return writer.to_bytes(std::vector<Bytes>{filled(bytes, static_cast<uint8_t>(number + 1))});
}

class SeriesTest : public FileTest {
 protected:
  std::string save_member(int part, int count, const Bytes& bytes) {
    return save(fmt::format("m-{:05}-of-{:05}.gguf", part, count), bytes);
  }
  // A good series of three; returns the first file's path.
  std::string save_three(int32_t total = 3) {
    save_member(2, 3, member(1, 3, "b", total));
    save_member(3, 3, member(2, 3, "a", total));
    return save_member(1, 3, member(0, 3, "c", total));
  }
};

TEST_F(SeriesTest, OpensAsOneFile) {
  const auto opened = File::open(save_three());
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  const File& file = **opened;
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(*file.metadata().string("general.architecture"), "test");
  EXPECT_EQ(file.alignment(), 64u);
  const std::pair<const char*, uint8_t> expected[] = {{"c", 1}, {"b", 2}, {"a", 3}};
  uint64_t total = 0;
  for (size_t i = 0; i < 3; ++i) {
    const Tensor* tensor = file.find_tensor(expected[i].first);
    ASSERT_EQ(tensor, &file.tensors()[i]);
    EXPECT_EQ(Bytes(tensor->data.begin(), tensor->data.end()), filled(12, expected[i].second));
    EXPECT_EQ(tensor->file->path(), (folder_ / fmt::format("m-{:05}-of-00003.gguf", i + 1)).string());
    total += tensor->file->bytes().size();
  }
  EXPECT_EQ(file.total_bytes(), total);
  std::filesystem::resize_file(folder_ / "m-00003-of-00003.gguf", 10);
  EXPECT_FALSE(file.still_whole().has_value());
}

TEST_F(SeriesTest, NamesTheMissingMember) {
  const std::string first = save_three();
  std::filesystem::remove(folder_ / "m-00002-of-00003.gguf");
  expect_refused(first,
                 "file 2 of 3 of the series: cannot open '" + (folder_ / "m-00002-of-00003.gguf").string());
}

TEST_F(SeriesTest, MustBeOpenedByItsFirstFile) {
  save_three();
  expect_refused((folder_ / "m-00002-of-00003.gguf").string(),
                 "m-00002-of-00003.gguf': this is file 2 of a series of 3, but file 1 of 3 is needed here");
}

TEST_F(SeriesTest, NeedsItsName) {
  expect_refused(save("renamed.gguf", member(0, 3, "c", 3)), "its name must end in '-00001-of-00003.gguf'");
}

TEST_F(SeriesTest, MembersMustAgree) {
  const std::string first = save_three();
  save_member(2, 3, member(2, 3, "b", 3));
  expect_refused(first,
                 "m-00002-of-00003.gguf': this is file 3 of a series of 3, but file 2 of 3 is needed here");
  save_member(2, 3, member(1, 4, "b", 3));
  expect_refused(first, "this is file 2 of a series of 4, but file 2 of 3 is needed here");
  save_member(2, 3, small_model(32));
  expect_refused(first, "m-00002-of-00003.gguf': the file has no key 'split.no'");
  save_member(2, 3, member(1, 3, "a", 3));
  expect_refused(first, "the tensor 'a' appears twice");
  Bytes cut = member(1, 3, "b", 3);
  cut.resize(60);
  save_member(2, 3, cut);
  expect_refused(first, "file 2 of 3 of the series: '");
}

TEST_F(SeriesTest, TensorsMustAddUp) {
  expect_refused(save_three(4), "the series should have 4 tensors and has 3");
  expect_refused(save_three(-1), "'split.tensors.count' holds -1");
}

}  // namespace
}  // namespace tempo9::gguf
