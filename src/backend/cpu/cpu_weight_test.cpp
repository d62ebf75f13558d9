// Repacking, and the choice of an instruction set.
#include <algorithm>
#include <cstdlib>

#include "backend/cpu/cpu_test_machine.h"
#include "backend/cpu/panel_weight.h"

namespace tempo9::backend::cpu {
namespace {

class PanelTest : public testing::TestWithParam<quant::Format> {
 protected:
  WeightArena arena_;
};

// Any bytes that decode to finite numbers: every level and scale that a file may hold.
std::vector<uint8_t> random_bytes(std::mt19937& random, const quant::FormatInfo& info, int rows,
                                  int columns) {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> block(static_cast<size_t>(info.block_bytes));
  Values decoded(static_cast<size_t>(info.block_columns));
  for (int b = 0; b < rows * columns / info.block_columns;) {
    for (uint8_t& byte : block) byte = static_cast<uint8_t>(random());
    info.decode(block.data(), decoded.data());
    if (!std::ranges::all_of(decoded, [](float x) { return x - x == 0; })) continue;
    bytes.insert(bytes.end(), block.begin(), block.end());
    ++b;
  }
  return bytes;
}

TEST_P(PanelTest, RowsComeBackAsTheyWereInTheFile) {
  const quant::FormatInfo& info = quant::format_info(GetParam());
  std::mt19937 random(11);
  const int rows = 37, columns = 3 * std::max(info.block_columns, 5);
  const std::vector<uint8_t> bytes = random_bytes(random, info, rows, columns);
  const auto weight = PanelWeight::load({GetParam(), rows, columns, 1, bytes}, arena_, 2).value();
  Values expected(static_cast<size_t>(columns)), got(expected.size());
  for (int r = 0; r < rows; ++r) {
    const size_t offset = static_cast<size_t>(r) * info.row_bytes(expected.size());
    quant::decode_row(GetParam(), bytes.data() + offset, expected.size(), expected.data());
    weight->decode_row(r, got.data());
    EXPECT_EQ(got, expected) << "row " << r;
  }
}

TEST_P(PanelTest, AStackHoldsItsMatricesOneAfterTheOther) {
  const quant::FormatInfo& info = quant::format_info(GetParam());
  std::mt19937 random(12);
  const int rows = 20, columns = 2 * info.block_columns, count = 3;
  const std::vector<uint8_t> bytes = random_bytes(random, info, rows * count, columns);
  const auto stack = PanelWeight::load({GetParam(), rows, columns, count, bytes}, arena_, 2).value();
  for (int i = 0; i < count; ++i) {
    const size_t size = bytes.size() / count;
    const auto part = std::span(bytes).subspan(static_cast<size_t>(i) * size, size);
    const auto one = PanelWeight::load({GetParam(), rows, columns, 1, part}, arena_, 1).value();
    EXPECT_EQ(std::memcmp(stack->matrix(i), one->matrix(0), one->resident_bytes()), 0) << "matrix " << i;
  }
}

TEST(WeightArenaTest, MemoryIsZeroAlignedAndNobodyElses) {
  WeightArena arena;
  std::mt19937 random(13);
  struct Taken {
    std::shared_ptr<std::byte> memory;
    size_t bytes;
  };
  std::vector<Taken> all;
  for (const size_t large : {size_t{1}, size_t{63} << 20, size_t{64} << 20, size_t{65} << 20})
    for (int i = 0; i < 20; ++i) {
      const size_t bytes = i == 10 ? large : 1 + random() % 100'000;
      std::shared_ptr<std::byte> memory = arena.take(bytes);
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0U);
      EXPECT_TRUE(memory.get()[0] == std::byte{0} && memory.get()[bytes - 1] == std::byte{0});
      for (const Taken& other : all)
        EXPECT_TRUE(memory.get() + bytes <= other.memory.get() ||
                    other.memory.get() + other.bytes <= memory.get());
      memory.get()[0] = memory.get()[bytes - 1] = std::byte{1};
      all.push_back({std::move(memory), bytes});
    }
}

TEST(WeightArenaTest, OutlivesItsArena) {
  std::shared_ptr<std::byte> memory;
  {
    WeightArena arena;
    memory = arena.take(1000);
  }
  memory.get()[999] = std::byte{1};
  EXPECT_EQ(memory.get()[999], std::byte{1});
}

TEST_P(PanelTest, RefusesWhatDoesNotFit) {
  const quant::FormatInfo& info = quant::format_info(GetParam());
  const int columns = 2 * info.block_columns;
  const std::vector<uint8_t> bytes(info.row_bytes(static_cast<size_t>(columns)) * 16);
  const auto load = [&](int rows, int width, int count) {
    return PanelWeight::load({GetParam(), rows, width, count, bytes}, arena_, 1);
  };
  EXPECT_TRUE(load(16, columns, 1));
  EXPECT_TRUE(load(4, columns, 4));
  EXPECT_EQ(load(17, columns, 1).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load(16, columns, 2).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load(0, columns, 1).error().code, ErrorCode::kInvalidArgument);
  if (info.block_columns == 1) return;
  const auto odd = load(16, columns + 1, 1);
  EXPECT_EQ(odd.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(odd.error().message.find(info.name), std::string::npos) << odd.error().message;
  EXPECT_NE(odd.error().message.find(std::to_string(columns + 1)), std::string::npos) << odd.error().message;
}

std::vector<quant::Format> all_formats() {
  std::vector<quant::Format> formats;
  for (const quant::FormatInfo& info : quant::formats()) formats.push_back(info.format);
  return formats;
}
INSTANTIATE_TEST_SUITE_P(AllFormats, PanelTest, testing::ValuesIn(all_formats()),
                         [](const auto& p) { return std::string(quant::format_info(p.param).name); });

TEST(Isa, TheFastestIsTakenUnlessOneIsForced) {
  ::unsetenv("TEMPO9_CPU_ISA");
  const std::vector<const Kernels*> runnable = runnable_kernels();
  EXPECT_EQ(choose_kernels("").value(), runnable.front());
  for (const Kernels* kernels : runnable) EXPECT_EQ(choose_kernels(kernels->name).value(), kernels);
  ::setenv("TEMPO9_CPU_ISA", "scalar", 1);
  EXPECT_STREQ(choose_kernels("").value()->name, "scalar");
  EXPECT_EQ(choose_kernels(runnable.front()->name).value(), runnable.front());
  ::setenv("TEMPO9_CPU_ISA", "sse9", 1);
  EXPECT_EQ(choose_kernels("").error().code, ErrorCode::kInvalidArgument);
  ::unsetenv("TEMPO9_CPU_ISA");
}

TEST(Isa, RefusalsNameTheSet) {
  const Error unknown = make_cpu_kernels({1, "sse9"}).error();
  EXPECT_EQ(unknown.code, ErrorCode::kInvalidArgument);
  EXPECT_NE(unknown.message.find("'sse9'"), std::string::npos) << unknown.message;
  EXPECT_NE(unknown.message.find("scalar"), std::string::npos) << unknown.message;
  for (const std::string name :
       {"avx2", "avx512", "avx512bf16", "neon_dotprod", "neon_i8mm"}) {  // another machine's are not built
    const auto chosen = choose_kernels(name);
    const bool runs =
        std::ranges::any_of(runnable_kernels(), [&](const Kernels* k) { return k->name == name; });
    EXPECT_EQ(chosen.has_value(), runs);
    if (chosen) continue;
    EXPECT_TRUE(chosen.error().code == ErrorCode::kUnsupported ||
                chosen.error().code == ErrorCode::kInvalidArgument);
    EXPECT_NE(chosen.error().message.find(name), std::string::npos) << chosen.error().message;
  }
}

TEST(Isa, TheDeviceSaysWhatItRunsOn) {
  EXPECT_EQ(make_cpu_kernels({3, "scalar"}).value()->description(), "scalar, 3 threads");
}

}  // namespace
}  // namespace tempo9::backend::cpu
