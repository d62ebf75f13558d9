// Parsing allocates less than four times the file, also for the files that are densest in entries and
// tensors, and nothing worth mention for files that lie about their counts.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "gguf/writer.h"

namespace {
std::atomic<size_t> allocated = 0;  // since the last reset; frees do not count back
}  // namespace

// Not inlined: the compiler would compare malloc here with the delete it knows.
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  allocated += bytes;
  return std::malloc(bytes);
}
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace tempo9::gguf {
namespace {

// Bytes that File::parse allocates in total, whether it succeeds or not.
size_t parse_cost(const std::vector<uint8_t>& bytes, bool succeeds) {
  allocated = 0;
  const auto file = File::parse(bytes);
  const size_t cost = allocated;
  EXPECT_EQ(file.has_value(), succeeds);
  return cost;
}

// An entry of 48 bytes stands for 14 in the file at least, a tensor with its place and its two sort indices,
// 104 bytes, for 33.
constexpr size_t kFactor = 4;
constexpr size_t kMessage = 4096;  // an error message, the File object

TEST(Memory, DenseMetadata) {
  Writer writer;
  for (int i = 0; i < 60000; ++i) writer.set(fmt::format("{:x}", i), true);
  const auto bytes = writer.to_bytes({});
  EXPECT_LT(parse_cost(bytes, true), kFactor * bytes.size() + kMessage);
}

TEST(Memory, DenseTensors) {
  Writer writer(8);
  const std::vector<uint64_t> shape = {1};
  for (int i = 0; i < 60000; ++i) writer.add_tensor(fmt::format("{:x}", i), 24, shape);
  const auto bytes = writer.to_bytes(std::vector(60000, std::vector<uint8_t>(1)));
  EXPECT_LT(parse_cost(bytes, true), kFactor * bytes.size() + kMessage);
}

TEST(Memory, CountsThatLie) {
  const auto base = Writer().to_bytes({});
  for (size_t field : {8, 16}) {  // tensors, entries
    for (uint64_t count : {uint64_t{1} << 16, uint64_t{1} << 20, uint64_t{1} << 40, ~uint64_t{0}}) {
      auto bytes = base;
      std::memcpy(bytes.data() + field, &count, sizeof(count));
      EXPECT_LT(parse_cost(bytes, false), kMessage);
    }
  }
  Writer array;
  array.set_array("k", std::vector<std::string>{"a"});
  auto bytes = array.to_bytes({});
  const uint64_t count = uint64_t{1} << 40;
  std::memcpy(bytes.data() + 24 + 8 + 1 + 4 + 4, &count, sizeof(count));
  EXPECT_LT(parse_cost(bytes, false), kMessage);
}

}  // namespace
}  // namespace tempo9::gguf
