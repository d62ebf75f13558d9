// BF16 weights on a matrix unit for bf16, on a model of its instruction (TDPBF16PS: Intel's Software
// Developer's Manual, volume 2). Where a machine has the unit, it must have the model's bits.
#include <cmath>

#include "backend/cpu/cpu_test_machine.h"
#include "backend/cpu/leaf/scalar.h"
#include "backend/cpu/linear_bfloat.h"
#include "backend/cpu/panel_formats.h"

namespace tempo9::backend::cpu {
namespace {

// The manual's "DAZ = FTZ = 1". Its results just below 2^-126 could round differently from these.
float flush(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

struct ModelledBfloatLeaf : ScalarLeaf {
  class BfloatTiles {
   public:
    explicit BfloatTiles(int rows) : rows_(rows) {}
    void zero() const { std::memset(sums_, 0, sizeof sums_); }
    template <int Panels>
    void multiply(const uint8_t* lines, const std::byte* parts, size_t stride) const {
      for (int part = 0; part < kBfloatParts; ++part)
        for (int r = 0; r < rows_; ++r)
          for (int i = 0; i < Panels; ++i)
            multiply_row(
                reinterpret_cast<const uint16_t*>(lines + i * kPairLines),
                reinterpret_cast<const BfloatBlock*>(parts + static_cast<size_t>(r) * stride)->part[part],
                sums_[kBfloatPanels * (r / kTileUnitRows) + i][r % kTileUnitRows]);
    }
    void store(float* sums) const { std::memcpy(sums, sums_, sizeof sums_); }

   private:
    // A row of a tile by a tile: 32 activations by 16 lines of 16 pairs.
    static void multiply_row(const uint16_t* lines, const uint16_t* x, float* sums) {
      for (int n = 0; n < kPanelRows; ++n) {
        float chain[2] = {0, 0};
        for (int k = 0; k < kBfloatColumns; ++k) {
          const float a = flush(quant::bfloat_to_float(x[k]));
          const float b = flush(quant::bfloat_to_float(lines[2 * kPanelRows * (k / 2) + 2 * n + k % 2]));
          chain[k % 2] = flush(std::fma(a, b, chain[k % 2]));
        }
        sums[n] = flush(sums[n] + flush(chain[0] + chain[1]));
      }
    }

    int rows_;
    mutable float sums_[2 * kBfloatPanels][kTileUnitRows][kPanelRows];
  };
  static void store_pairs(uint8_t* line, const uint8_t* columns) {
    for (int n = 0; n < kPanelRows; ++n)
      for (int i = 0; i < 2; ++i) std::memcpy(line + 4 * n + 2 * i, columns + 2 * kPanelRows * i + 2 * n, 2);
  }
  static Floats upper_half(Floats x) { return quant::float_from_bits(quant::float_to_bits(x) & 0xffff0000u); }
  static void store_upper_half(uint16_t* p, Floats x) {
    *p = static_cast<uint16_t>(quant::float_to_bits(x) >> 16);
  }
};
static_assert(kHasBfloatTiles<ModelledBfloatLeaf> && !kHasBfloatTiles<ScalarLeaf>);

// A matrix and activations, and where results begin: with a bias, or added to what was there.
struct Problem {
  int rows, columns, outputs;
  bool add;
  std::vector<uint8_t> weight;
  Values x, start, bias;
};

Problem make_problem(int rows, int columns, int outputs, bool add) {
  std::mt19937 random(3);
  const auto r = static_cast<size_t>(rows), k = static_cast<size_t>(columns),
             n = static_cast<size_t>(outputs);
  Problem problem{rows,
                  columns,
                  outputs,
                  add,
                  encode(quant::Format::kBF16, normal_values(random, n * k)),
                  normal_values(random, r * k),
                  normal_values(random, r * n),
                  normal_values(random, n)};
  for (size_t i = 0; i < problem.x.size(); i += 97) problem.x[i] *= i % 2 == 0 ? 20.0f : 0x1p-120f;
  return problem;
}

// By the model, `chunk` rows at a time.
Values run_model(const Problem& problem, int chunk) {
  const auto panels = static_cast<size_t>((problem.outputs + kPanelRows - 1) / kPanelRows);
  const size_t row_bytes = 2 * static_cast<size_t>(problem.columns), panel_bytes = row_bytes * kPanelRows;
  std::vector<uint8_t> file = problem.weight, memory(panels * panel_bytes);
  file.resize(memory.size());
  for (size_t p = 0; p < panels; ++p) {
    const uint8_t* rows[kPanelRows];
    for (size_t r = 0; r < kPanelRows; ++r) rows[r] = file.data() + (kPanelRows * p + r) * row_bytes;
    panel_format(format_index(quant::Format::kBF16))
        .repack(rows, problem.columns, memory.data() + p * panel_bytes);
  }
  const size_t stride = bfloat_stride(problem.columns);
  std::vector<std::byte> input(static_cast<size_t>(problem.rows) * stride);
  for (int r = 0; r < problem.rows; ++r)
    split_row<ModelledBfloatLeaf>(
        problem.x.data() + r * problem.columns, problem.columns,
        reinterpret_cast<BfloatBlock*>(input.data() + static_cast<size_t>(r) * stride));
  Values out = problem.start;
  for (int r = 0; r < problem.rows; r += chunk)
    linear_by_bfloat_tiles<ModelledBfloatLeaf>({.panels = memory.data(),
                                                .columns = problem.columns,
                                                .outputs = problem.outputs,
                                                .last_panel = static_cast<int>(panels),
                                                .input = input.data() + static_cast<size_t>(r) * stride,
                                                .input_stride = stride,
                                                .rows = std::min(chunk, problem.rows - r),
                                                .out = out.data() + r * problem.outputs,
                                                .out_stride = static_cast<size_t>(problem.outputs),
                                                .bias = problem.add ? nullptr : problem.bias.data(),
                                                .add = problem.add});
  return out;
}

Values run_machine(Machine& machine, const Problem& problem, int chunk) {
  const View x = machine.put(problem.x, problem.rows, problem.columns);
  const View out = machine.put(problem.start, problem.rows, problem.outputs);
  const auto part = [](View view, int first, int rows) {
    view.offset += static_cast<size_t>(first) * static_cast<size_t>(view.stride) * sizeof(float);
    return view.first_rows(rows);
  };
  Linear op;
  op.count = 1;
  op.outputs[0].weight = machine.load(quant::Format::kBF16, problem.outputs, problem.columns, problem.weight);
  if (!problem.add) op.outputs[0].bias = machine.put(problem.bias, 1, problem.outputs);
  op.outputs[0].add = problem.add;
  for (int r = 0; r < problem.rows; r += chunk) {
    op.input.x = part(x, r, std::min(chunk, problem.rows - r));
    op.outputs[0].out = part(out, r, std::min(chunk, problem.rows - r));
    machine.run(op);
  }
  return get(out);
}

TEST(BfloatParts, AddUpToTheValue) {
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto exponent = static_cast<uint32_t>(24 + i % 231);  // 2^-103 to the largest
    const float x = quant::float_from_bits((static_cast<uint32_t>(random()) & 0x807fffffu) | exponent << 23);
    float values[kBfloatColumns] = {0.0f, x};
    BfloatBlock block;
    split_block<ModelledBfloatLeaf>(values, block);
    float sum = 0;
    for (const auto& part : block.part) {
      const float value = quant::bfloat_to_float(part[1]);
      EXPECT_EQ(flush(value), value) << x;
      EXPECT_GE(value * std::copysign(1.0f, x), 0) << x;
      sum += value;  // exact: the bits of the parts do not overlap
    }
    EXPECT_EQ(sum, x);
  }
}

TEST(LinearByBfloatTiles, BitsDoNotDependOnTheNumberOfRows) {
  for (const int columns : {1, 32, 105})
    for (const int outputs : {7, 48, 50}) {
      const Problem problem = make_problem(40, columns, outputs, outputs == 48);
      const Values expected = run_model(problem, 1);
      for (int chunk = 2; chunk <= 40; ++chunk)
        EXPECT_TRUE(same_bits(run_model(problem, chunk), expected))
            << columns << " columns, " << outputs << " outputs, chunks of " << chunk;
    }
}

// Every product meets at most the roundings that linear_bfloat.h counts, each of 2^-24 relative to a partial
// sum of products; then one for the bias or the addition.
TEST(LinearByBfloatTiles, IsAccurate) {
  const Problem problem = make_problem(9, 345, 50, false);
  const Values got = run_model(problem, 9);
  const double roundings = 17 + 3 * bfloat_blocks(problem.columns) + 1;
  for (int r = 0; r < problem.rows; ++r)
    for (int n = 0; n < problem.outputs; ++n) {
      const double bias = problem.bias[static_cast<size_t>(n)];
      double sum = bias, sizes = std::fabs(bias);
      for (int k = 0; k < problem.columns; ++k) {
        const uint8_t* w = problem.weight.data() + 2 * (n * problem.columns + k);
        const double product = static_cast<double>(quant::bfloat_to_float(quant::load_u16(w))) *
                               problem.x[static_cast<size_t>(r * problem.columns + k)];
        sum += product;
        sizes += std::fabs(product);
      }
      EXPECT_NEAR(got[static_cast<size_t>(r * problem.outputs + n)], sum, roundings * 0x1p-24 * sizes);
    }
}

TEST(LinearByBfloatTiles, TheUnitHasTheBitsOfItsModel) {
  const auto kernels = choose_kernels("amx");
  if (!kernels) GTEST_SKIP() << "not run: " << kernels.error().message;
  for (const int columns : {1, 31, 32, 96, 345, 1024})
    for (const int outputs : {7, 16, 48, 50, 200}) {
      const Problem problem = make_problem(40, columns, outputs, outputs == 48);
      const Values expected = run_model(problem, 40);
      for (const int threads : {1, 3}) {
        Machine machine("amx", threads);
        for (int chunk = 1; chunk <= 40; ++chunk)
          EXPECT_TRUE(same_bits(run_machine(machine, problem, chunk), expected))
              << columns << " columns, " << outputs << " outputs, " << threads << " threads, chunks of "
              << chunk;
      }
    }
}

}  // namespace
}  // namespace tempo9::backend::cpu
