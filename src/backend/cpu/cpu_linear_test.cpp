// The linear operation and its inputs: equal bits from every instruction set, for any number of rows and
// threads (BF16 on AMX: for any number of those). That the results are right, within the rounding of
// activations, is ops_test's subject.
#include <cmath>

#include "backend/cpu/cpu_test_machine.h"
#include "backend/cpu/leaf/scalar.h"
#include "backend/cpu/math.h"

namespace tempo9::backend::cpu {
namespace {

constexpr int kRows = 37;
constexpr int kOutputs = 85;  // the last panel is not full

struct Data {
  quant::Format format;
  int columns;
  std::vector<uint8_t> weight;
  Values x;
};

// Besides ordinary values: weights and activations at the ends of their ranges, where integer sums are
// largest, and blocks of zeros.
Data make_data(quant::Format format) {
  const int block = quant::format_info(format).block_columns;
  Data data{format, block == 256 ? 768 : block == 32 ? 352 : 345, {}, {}};
  std::mt19937 random(7);
  const auto columns = static_cast<size_t>(data.columns);
  Values weights = normal_values(random, kOutputs * columns);
  for (size_t i = 0; i < 8 * columns; ++i) weights[i] = i % 16 == 0 ? -1.0f : 1.0f;
  data.weight = encode(format, weights);
  data.x = normal_values(random, kRows * columns);
  for (size_t i = 0; i < data.x.size(); i += 97) data.x[i] *= 20;
  for (size_t i = 0; i < 2 * columns; ++i) data.x[i] = i < columns || i % 32 < 16 ? 1.0f : -1.0f;
  for (size_t i = 3 * columns; i < 3 * columns + 64; ++i) data.x[i] = 0;
  return data;
}

// All rows in chunks.
Values run_linear(Machine& machine, const Data& data, int chunk) {
  const View x = machine.put(data.x, kRows, data.columns);
  const View out = machine.make(kRows, kOutputs, kOutputs + 11);
  Linear op;
  op.count = 1;
  op.outputs[0].weight = machine.load(data.format, kOutputs, data.columns, data.weight);
  for (int r = 0; r < kRows; r += chunk) {
    const int rows = std::min(chunk, kRows - r);
    const auto part = [&](View view) {
      view.offset += static_cast<size_t>(r) * static_cast<size_t>(view.stride) * sizeof(float);
      return view.first_rows(rows);
    };
    op.input.x = part(x);
    op.outputs[0].out = part(out);
    machine.run(op);
  }
  return get(out);
}

class LinearBits : public testing::TestWithParam<quant::Format> {};

TEST_P(LinearBits, AreThoseOfTheScalarLeaf) {
  const Data data = make_data(GetParam());
  Machine scalar("scalar", 1);
  const Values of_scalar = run_linear(scalar, data, kRows);
  EXPECT_TRUE(same_bits(run_linear(scalar, data, 1), of_scalar));
  for (const std::string& isa : vector_isas()) {
    Machine alone(isa, 1);
    const Values expected = has_common_order(isa, data.format) ? of_scalar : run_linear(alone, data, 1);
    for (const int threads : {1, 2, 3}) {
      Machine machine(isa, threads);
      for (const int chunk : {1, 2, 3, 4, 7, 8, kRows})
        EXPECT_TRUE(same_bits(run_linear(machine, data, chunk), expected))
            << isa << ", " << threads << " threads, chunks of " << chunk;
    }
  }
}

std::vector<quant::Format> all_formats() {
  std::vector<quant::Format> formats;
  for (const quant::FormatInfo& info : quant::formats()) formats.push_back(info.format);
  return formats;
}
INSTANTIATE_TEST_SUITE_P(AllFormats, LinearBits, testing::ValuesIn(all_formats()),
                         [](const auto& p) { return std::string(quant::format_info(p.param).name); });

// Everything else that an operation may ask for, over outputs of formats that read blocks and floats.
struct Variant {
  LinearInput::Prepare prepare;
  Activation activation;
};

constexpr quant::Format kVariantFormats[] = {quant::Format::kQ4_1, quant::Format::kBF16,
                                             quant::Format::kQ8_0};

std::vector<Values> run_variant(Machine& machine, const Variant& variant, int rows) {
  constexpr int kColumns = 160;
  std::mt19937 random(5);
  const Values x = normal_values(random, static_cast<size_t>(rows) * kColumns, 3.0f);
  const Values gate = normal_values(random, x.size(), 3.0f);
  Linear op;
  op.input.prepare = variant.prepare;
  op.input.activation = variant.activation;
  op.input.epsilon = 1e-6f;
  op.input.x = machine.put(x, rows, kColumns);
  if (variant.prepare == LinearInput::Prepare::kGated) op.input.gate = machine.put(gate, rows, kColumns);
  if (variant.prepare == LinearInput::Prepare::kRmsNorm)
    op.input.norm_weight = machine.put(normal_values(random, kColumns), 1, kColumns);
  for (const quant::Format format : kVariantFormats) {
    const int outputs = 24 + op.count;
    const auto n = static_cast<size_t>(outputs);
    LinearOutput& output = op.outputs[static_cast<size_t>(op.count++)];
    output.weight =
        machine.load(format, outputs, kColumns, encode(format, normal_values(random, n * kColumns)));
    output.out = machine.put(normal_values(random, static_cast<size_t>(rows) * n), rows, outputs);
    output.add = op.count != 2;
    output.bias = machine.put(normal_values(random, n), 1, outputs);
  }
  machine.run(op);
  return {get(op.outputs[0].out), get(op.outputs[1].out), get(op.outputs[2].out)};
}

TEST(LinearBits, AreEqualForEveryPreparation) {
  using Prepare = LinearInput::Prepare;
  for (const Variant& variant : {Variant{Prepare::kAsIs, Activation::kNone},
                                 {Prepare::kRmsNorm, Activation::kNone},
                                 {Prepare::kGated, Activation::kNone},
                                 {Prepare::kGated, Activation::kSilu},
                                 {Prepare::kGated, Activation::kGeluTanh}})
    for (const int rows : {1, 3, 20}) {
      Machine scalar("scalar", 1);
      const std::vector<Values> of_scalar = run_variant(scalar, variant, rows);
      for (const std::string& isa : vector_isas()) {
        Machine alone(isa, 1);
        std::vector<Values> expected = run_variant(alone, variant, rows);
        for (size_t i = 0; i < expected.size(); ++i)
          if (has_common_order(isa, kVariantFormats[i])) expected[i] = of_scalar[i];
        for (const int threads : {1, 3}) {
          Machine machine(isa, threads);
          const std::vector<Values> got = run_variant(machine, variant, rows);
          for (size_t i = 0; i < expected.size(); ++i)
            EXPECT_TRUE(same_bits(got[i], expected[i]))
                << isa << ", " << threads << " threads, " << rows << " rows, output " << i;
        }
      }
    }
}

TEST(Linear, WritesNothingBesideItsOutputs) {
  for (const Kernels* kernels : runnable_kernels()) {
    Machine machine(kernels->name, 1);
    constexpr int kColumns = 32, kStride = 40;
    Linear op;
    op.input.x = machine.put(Values(3 * kColumns, 1.0f), 3, kColumns);
    op.count = 1;
    const int outputs = 19;
    op.outputs[0].weight = machine.load(quant::Format::kQ4_0, outputs, kColumns,
                                        encode(quant::Format::kQ4_0, Values(outputs * kColumns, 1.0f)));
    op.outputs[0].out = machine.put(Values(4 * kStride, -7.0f), 3, kStride);
    op.outputs[0].out.columns = outputs;
    machine.run(op);
    for (int r = 0; r < 4; ++r)
      for (int n = 0; n < kStride; ++n) {
        const bool inside = r < 3 && n < outputs;
        EXPECT_EQ(row_pointer(op.outputs[0].out, r)[n] == -7.0f, !inside) << r << " " << n;
      }
  }
}

// A row with an infinity is lost, and no other.
TEST(Linear, NonFiniteInputsStayInTheirRow) {
  for (const Kernels* kernels : runnable_kernels())
    for (const quant::Format format :
         {quant::Format::kQ4_1, quant::Format::kQ8_0, quant::Format::kF16, quant::Format::kBF16}) {
      Machine machine(kernels->name, 1);
      constexpr int kColumns = 64, kOut = 16;
      Values x(5 * kColumns, 1.0f);
      x[kColumns + 3] = INFINITY;
      x[3 * kColumns] = NAN;
      Linear op;
      op.input.x = machine.put(x, 5, kColumns);
      op.count = 1;
      std::mt19937 random(1);
      op.outputs[0].weight =
          machine.load(format, kOut, kColumns, encode(format, normal_values(random, kOut * kColumns)));
      op.outputs[0].out = machine.make(5, kOut, kOut);
      machine.run(op);
      for (int r = 0; r < 5; ++r)
        for (int n = 0; n < kOut; ++n)
          EXPECT_EQ(std::isfinite(row_pointer(op.outputs[0].out, r)[n]), r != 1 && r != 3);
    }
}

TEST(Linear, KeepsItsScratchMemory) {
  Machine machine("", 2);
  const Data data = make_data(quant::Format::kQ4_1);
  run_linear(machine, data, kRows);
  const size_t bytes = machine.kernels().scratch_bytes();
  EXPECT_GT(bytes, 0u);
  run_linear(machine, data, 5);
  EXPECT_EQ(machine.kernels().scratch_bytes(), bytes);
}

// Two units in the last place, which is 2^-22 relative at worst.
TEST(Math, Exp2IsAccurate) {
  EXPECT_EQ(exp2_of_negative<ScalarLeaf>(0.0f), 1.0f);
  double worst = 0;
  for (float x = 0; x > -125; x -= 0.0037f) {
    const double error = exp2_of_negative<ScalarLeaf>(x) / std::exp2(static_cast<double>(x)) - 1;
    worst = std::max(worst, std::fabs(error));
  }
  EXPECT_LT(worst, 0x1p-22);
  EXPECT_TRUE(std::isnan(exp2_of_negative<ScalarLeaf>(NAN)));
  EXPECT_EQ(exp2_of_negative<ScalarLeaf>(-1e30f), 0x1p-125f);
}

TEST(Math, ActivationsAreAccurate) {
  for (float x = -30; x < 30; x += 0.01f) {
    const double silu = x / (1 + std::exp(-static_cast<double>(x)));
    EXPECT_NEAR(times_sigmoid<ScalarLeaf>(x, x), silu, 1e-6 * std::fabs(silu) + 1e-12) << x;
    const double z = 0.7978845608028654 * (x + 0.044715 * std::pow(static_cast<double>(x), 3));
    const double gelu = 0.5 * x * (1 + std::tanh(z));
    EXPECT_NEAR(gelu_tanh<ScalarLeaf>(x), gelu, 2e-6 * std::fabs(x)) << x;
  }
}

}  // namespace
}  // namespace tempo9::backend::cpu
