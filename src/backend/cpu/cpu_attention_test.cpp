// Attention: equal bits from every instruction set, however a prompt is cut and whatever number of threads
// take part, also when pages hold NaN wherever nothing was written.
#include "backend/cpu/cpu_test_machine.h"
#include "base/limits.h"

namespace tempo9::backend::cpu {
namespace {

struct Shape {
  KvType type;
  int kv_heads, group, key_size, value_size, window;
};

// One sequence, with keys and values for every position.
class Sequence {
 public:
  Sequence(const Shape& shape, int tokens) : shape_(shape), tokens_(tokens) {
    std::mt19937 random(3);
    const auto n = static_cast<size_t>(tokens * shape.kv_heads);
    keys_ = normal_values(random, n * static_cast<size_t>(shape.key_size));
    values_ = normal_values(random, n * static_cast<size_t>(shape.value_size));
    queries_ = normal_values(random, n * static_cast<size_t>(shape.group * shape.key_size), 2.0f);
  }

  int outputs() const { return heads() * shape_.value_size; }

  // Positions `first` to the last in chunks; what lies before is written at once. Returns the outputs from
  // `first` on.
  Values run(Machine& machine, int first, int chunk) const {
    const KvShape kv_shape{shape_.type, shape_.kv_heads, shape_.key_size, shape_.value_size};
    const size_t page_bytes = machine.kernels().kv_layer_bytes(kv_shape).value();
    const int pages = (tokens_ + limits::kPageTokens - 1) / limits::kPageTokens;
    const auto slab = HostBuffer::allocate(page_bytes * static_cast<size_t>(pages));
    std::memset(slab->data(), 0xff, slab->bytes());
    HostSlabTable slabs(1);
    slabs.set(0, slab.get());
    std::vector<int32_t> table(static_cast<size_t>(pages));  // in reverse, so that its order matters
    for (int p = 0; p < pages; ++p) table[static_cast<size_t>(p)] = pages - 1 - p;

    Attention op;
    op.kv = {&slabs, pages, page_bytes, 0, kv_shape};
    op.queries = put(machine, queries_, shape_.group * shape_.key_size);
    op.out = machine.make(tokens_, outputs(), outputs());
    op.page_table = machine.put(table, 1, pages);
    op.query_heads = heads();
    op.scale = 0.125f;
    op.window = shape_.window;
    KvWrite write;
    write.keys = put(machine, keys_, shape_.key_size);
    write.values = put(machine, values_, shape_.value_size);
    write.page_table = op.page_table;
    write.kv = op.kv;
    if (first > 0) {
      write.segments = segments(machine, 0, first);
      machine.run(write);
    }
    for (int at = first; at < tokens_; at += chunk) {
      write.segments = op.segments = segments(machine, at, std::min(chunk, tokens_ - at));
      machine.run(write);
      drop_pages_before_window(op, at);
      machine.run(op);
    }
    const Values out = get(op.out);
    return {out.begin() + static_cast<ptrdiff_t>(first) * op.out.columns, out.end()};
  }

 private:
  int heads() const { return shape_.kv_heads * shape_.group; }
  View put(Machine& machine, const Values& values, int size) const {
    return machine.put(values, tokens_, static_cast<int>(values.size()) / tokens_ / size * size);
  }
  Segments segments(Machine& machine, int first, int rows) const {
    return {machine.put(std::vector<int32_t>{first, rows, first, 0}, 1, 4), 1, rows, first + rows};
  }
  void drop_pages_before_window(const Attention& op, int position) const {
    if (shape_.window == 0) return;
    const int first_seen = std::max(0, position - shape_.window + 1);
    for (int p = 0; p < first_seen / limits::kPageTokens; ++p) row_pointer<int32_t>(op.page_table, 0)[p] = -1;
  }

  Shape shape_;
  int tokens_;
  Values keys_, values_, queries_;
};

const char* name_of(KvType type) {
  static constexpr const char* kNames[] = {"f32", "f16", "bf16", "q8_0"};  // in the order of KvType
  return kNames[static_cast<int>(type)];
}

constexpr Shape kShapes[] = {{KvType::kF16, 2, 3, 64, 64, 0},    {KvType::kBF16, 2, 3, 64, 64, 0},
                             {KvType::kF32, 1, 2, 64, 64, 0},    {KvType::kF16, 1, 1, 80, 80, 0},
                             {KvType::kBF16, 1, 8, 32, 96, 0},   {KvType::kF16, 1, 2, 128, 128, 100},
                             {KvType::kBF16, 1, 5, 48, 16, 130}, {KvType::kF16, 1, 1, 512, 256, 7},
                             {KvType::kQ8_0, 2, 3, 64, 64, 0},   {KvType::kQ8_0, 1, 9, 80, 48, 0},
                             {KvType::kQ8_0, 1, 1, 16, 144, 100}};

class AttentionBits : public testing::TestWithParam<Shape> {};

// More than one split of 512 tokens.
TEST_P(AttentionBits, AreThoseOfTheScalarLeafHoweverThePromptIsCut) {
  constexpr int kTokens = 530;
  const Sequence sequence(GetParam(), kTokens);
  Machine scalar("scalar", 1);
  const Values expected = sequence.run(scalar, 0, kTokens);
  for (const float x : expected) ASSERT_EQ(x, x);
  for (const std::string& isa : vector_isas())
    for (const int threads : {1, 3}) {
      Machine machine(isa, threads);
      for (const int chunk : {23, 64, 200, kTokens})
        EXPECT_TRUE(same_bits(sequence.run(machine, 0, chunk), expected))
            << isa << ", " << threads << " threads, chunks of " << chunk;
      const int last_rows = 25;
      const Values last(expected.end() - last_rows * sequence.outputs(), expected.end());
      EXPECT_TRUE(same_bits(sequence.run(machine, kTokens - last_rows, 1), last))
          << isa << ", " << threads << " threads, row by row";
    }
}

// A few rows with a long past: threads share the splits.
TEST_P(AttentionBits, AreThoseOfTheScalarLeafWhenSplitsAreShared) {
  constexpr int kTokens = 2100;
  const Sequence sequence(GetParam(), kTokens);
  Machine scalar("scalar", 1);
  const Values expected = sequence.run(scalar, kTokens - 5, 5);
  for (const std::string& isa : vector_isas())
    for (const int threads : {1, 2, 4}) {
      Machine machine(isa, threads);
      for (const int chunk : {1, 5})
        EXPECT_TRUE(same_bits(sequence.run(machine, kTokens - 5, chunk), expected))
            << isa << ", " << threads << " threads, chunks of " << chunk;
    }
}
INSTANTIATE_TEST_SUITE_P(Shapes, AttentionBits, testing::ValuesIn(kShapes), [](const auto& p) {
  const Shape& s = p.param;
  return fmt::format("{}_{}x{}_heads_of_{}_{}_window_{}", name_of(s.type), s.kv_heads, s.group, s.key_size,
                     s.value_size, s.window);
});

TEST(KvLayerBytes, CountsWhatItTakesAndNamesWhatItRefuses) {
  Machine machine("scalar", 1);
  const auto bytes = [&](KvType type, int size) {
    return machine.kernels().kv_layer_bytes({type, 2, size, size});
  };
  EXPECT_EQ(bytes(KvType::kF16, 80), 2u * 64 * (80 + 80) * 2);
  EXPECT_EQ(bytes(KvType::kQ8_0, 64), 2u * 64 * 2 * (64 + 2 * 2));
  EXPECT_EQ(bytes(KvType::kQ8_0, 80), 2u * 64 * 2 * (80 + 3 * 2));
  EXPECT_EQ(bytes(KvType::kF16, 72).error().code, ErrorCode::kUnsupported);
  EXPECT_NE(bytes(KvType::kF16, 72).error().message.find("72"), std::string::npos);
}

}  // namespace
}  // namespace tempo9::backend::cpu
