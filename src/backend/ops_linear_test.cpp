// Linear and EmbedRows: every weight format, shape and way of preparing the input, on every device against
// the reference.
//
// Tolerance. A device may round activations to 8 bits per block of 32 (scale = largest / 127): an error
// uniform in +-scale/2, variance scale^2 / 12, independent from element to element. A result is then off by a
// sum with variance sum over blocks of scale^2/12 * sum w^2; six of its standard deviations are exceeded
// about once in 10^9 results. On top come the roundings of f32 sums in any order: K * 2^-24 * sum |w||a|
// bounds them (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). For F32, F16 and BF16 weights
// nothing is rounded to 8 bits, and only the second part remains.
#include <algorithm>
#include <cmath>

#include "backend/ops_test_device.h"

namespace tempo9::backend {
namespace {

constexpr int kActivationBlock = 32;

struct Case {
  int rows, columns, outputs;
  LinearInput::Prepare prepare = LinearInput::Prepare::kAsIs;
  Activation activation = Activation::kNone;
  bool bias = false, add = false;
};

bool rounds_activations(quant::Format format) {
  return format != quant::Format::kF32 && format != quant::Format::kF16 && format != quant::Format::kBF16;
}

struct Data {
  Values x, norm, gate, bias, before;
  TestWeight weight;
};

Data make_data(std::mt19937& random, const Case& c, quant::Format format) {
  const auto cells = static_cast<size_t>(c.rows * c.columns);
  Data d;
  d.x = random_values(random, cells);
  for (size_t i = 0; i < cells; i += 97) d.x[i] *= 20;  // outliers, as real activations have
  if (c.rows > 1) std::fill_n(d.x.begin() + c.columns, std::min(c.columns, 64), 0.0f);  // blocks of zeros
  d.norm = random_values(random, static_cast<size_t>(c.columns));
  d.gate = random_values(random, cells);
  d.bias = random_values(random, static_cast<size_t>(c.outputs));
  d.before = random_values(random, static_cast<size_t>(c.rows * c.outputs));
  d.weight = random_weight(random, format, c.outputs, c.columns);
  return d;
}

Values run(TestDevice& device, const Case& c, const Data& d) {
  Linear op;
  op.input.prepare = c.prepare;
  op.input.x = device.put(d.x, c.rows, c.columns, 16);
  op.input.epsilon = 1e-5f;
  op.input.activation = c.activation;
  if (c.prepare == LinearInput::Prepare::kRmsNorm) op.input.norm_weight = device.put(d.norm, 1, c.columns);
  if (c.prepare == LinearInput::Prepare::kGated) op.input.gate = device.put(d.gate, c.rows, c.columns, 32);
  const Weight* weight = device.weight(d.weight.format, c.outputs, c.columns, d.weight.bytes);
  const View bias = c.bias ? device.put(d.bias, 1, c.outputs) : View{};
  op.outputs[0] = {weight, device.put(d.before, c.rows, c.outputs, 48), bias, c.add};
  op.outputs[1] = {weight, device.make(c.rows, c.outputs), {}, false};  // a second output over the same input
  op.count = 2;
  device.stream().submit(op);
  Values out = device.get(op.outputs[0].out);
  const Values second = device.get(op.outputs[1].out);
  out.insert(out.end(), second.begin(), second.end());
  return out;
}

double gated(Activation activation, double g, double x) {
  const auto sigmoid = [](double y) { return 1 / (1 + std::exp(-y)); };
  const double limited = std::min(g, 7.0);
  switch (activation) {
    case Activation::kNone:
      return g * x;
    case Activation::kSilu:
      return g * sigmoid(g) * x;
    case Activation::kGeluTanh:
      return 0.5 * g * (1 + std::tanh(std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g))) * x;
    case Activation::kSigmoid:
      return sigmoid(g) * x;
    case Activation::kClampedSwiglu:
      return limited * sigmoid(1.702 * limited) * (std::clamp(x, -7.0, 7.0) + 1);
  }
  return 0;
}

// The input as the operation defines it, in double.
std::vector<double> prepared(const Case& c, const Data& d, int row) {
  std::vector<double> a(static_cast<size_t>(c.columns));
  double squares = 0;
  for (int k = 0; k < c.columns; ++k) squares += std::pow(d.x[static_cast<size_t>(row * c.columns + k)], 2);
  const double scale = 1 / std::sqrt(squares / c.columns + 1e-5f);
  for (int k = 0; k < c.columns; ++k) {
    const double x = d.x[static_cast<size_t>(row * c.columns + k)],
                 g = d.gate[static_cast<size_t>(row * c.columns + k)];
    double& out = a[static_cast<size_t>(k)];
    if (c.prepare == LinearInput::Prepare::kAsIs) out = x;
    if (c.prepare == LinearInput::Prepare::kRmsNorm) out = x * scale * d.norm[static_cast<size_t>(k)];
    if (c.prepare == LinearInput::Prepare::kGated) out = gated(c.activation, g, x);
  }
  return a;
}

// How far result (row, n) may be from the reference; see the top.
double tolerance(const Case& c, const Data& d, const std::vector<double>& a, int n) {
  const float* w = d.weight.values.data() + static_cast<size_t>(n) * static_cast<size_t>(c.columns);
  double variance = 0, sizes = 0;
  for (int b = 0; b < c.columns; b += kActivationBlock) {
    double largest = 0, squares = 0;
    for (int k = b; k < std::min(c.columns, b + kActivationBlock); ++k) {
      largest = std::max(largest, std::abs(a[static_cast<size_t>(k)]));
      squares += static_cast<double>(w[k]) * w[k];
      sizes += std::abs(w[k] * a[static_cast<size_t>(k)]);
    }
    variance += std::pow(largest / 127, 2) / 12 * squares;
  }
  const double sums =
      (c.columns + 16) * kEpsilon * sizes + 4 * kEpsilon * 10;  // the last: bias and residual, below 10 here
  return (rounds_activations(d.weight.format) ? 6 * std::sqrt(variance) : 0) + sums;
}

void compare(const Case& c, const Data& d, const Values& expected, const Values& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  const size_t cells = static_cast<size_t>(c.rows * c.outputs);
  for (int r = 0; r < c.rows; ++r) {
    const auto a = prepared(c, d, r);
    for (int n = 0; n < c.outputs; ++n) {
      const double allowed = tolerance(c, d, a, n);
      for (const size_t i :
           {static_cast<size_t>(r * c.outputs + n), cells + static_cast<size_t>(r * c.outputs + n)})
        ASSERT_NEAR(expected[i], actual[i], allowed)
            << "row " << r << " output " << n << (i >= cells ? " (second)" : "");
    }
  }
}

void check(const Case& c, quant::Format format) {
  SCOPED_TRACE(fmt::format("{} {}x{} rows {} prepare {}", quant::format_info(format).name, c.outputs,
                           c.columns, c.rows, static_cast<int>(c.prepare)));
  std::mt19937 random(static_cast<unsigned>(c.rows * 1000 + c.columns));
  const Data d = make_data(random, c, format);
  TestDevice reference = make_reference();
  const Values expected = run(reference, c, d);
  for_each_candidate([&](const Candidate& candidate) {
    TestDevice device = make_candidate(candidate);
    compare(c, d, expected, run(device, c, d));
  });
}

using Prepare = LinearInput::Prepare;

class FormatTest : public testing::TestWithParam<quant::Format> {};
std::string format_name(const testing::TestParamInfo<quant::Format>& info) {
  return quant::format_info(info.param).name;
}
std::vector<quant::Format> all_formats() {
  std::vector<quant::Format> all;
  for (const auto& info : quant::formats()) all.push_back(info.format);
  return all;
}

TEST_P(FormatTest, LinearAsIs) {
  const int unit = quant::format_info(GetParam()).block_columns > 32 ? 256 : 32;
  for (const int rows : {1, 2, 5, 8, 19}) check({rows, unit * 3, 48}, GetParam());
}
TEST_P(FormatTest, LinearWithOutputsThatFillNoWholePanel) {
  check({3, 256, 21}, GetParam());
}
TEST_P(FormatTest, LinearOfNormedRowsWithBias) {
  check({1, 512, 32, Prepare::kRmsNorm, Activation::kNone, true}, GetParam());
  check({7, 512, 32, Prepare::kRmsNorm, Activation::kNone, true}, GetParam());
}
TEST_P(FormatTest, LinearOfGatedRowsAddedToAResidual) {
  check({1, 256, 32, Prepare::kGated, Activation::kSilu, false, true}, GetParam());
  check({9, 256, 32, Prepare::kGated, Activation::kSigmoid}, GetParam());
  check({2, 256, 32, Prepare::kGated, Activation::kClampedSwiglu}, GetParam());
  check({9, 256, 32, Prepare::kGated, Activation::kGeluTanh, true, true}, GetParam());
}

// A row's bits depend on that row alone.
TEST_P(FormatTest, RowsAreTheSameBitsAloneAndTogether) {
  const Case c{13, 512, 40, Prepare::kRmsNorm, Activation::kNone, true, true};
  std::mt19937 random(5);
  const Data d = make_data(random, c, GetParam());
  for_each_candidate([&](const Candidate& candidate) {
    TestDevice device = make_candidate(candidate);
    const Values together = run(device, c, d);
    for (int r = 0; r < c.rows; r += 3) {
      Case one = c;
      one.rows = 1;
      Data alone = d;
      alone.x.assign(d.x.begin() + r * c.columns, d.x.begin() + (r + 1) * c.columns);
      alone.before.assign(d.before.begin() + r * c.outputs, d.before.begin() + (r + 1) * c.outputs);
      const Values result = run(device, one, alone);
      for (int n = 0; n < c.outputs; ++n)
        ASSERT_EQ(result[static_cast<size_t>(n)], together[static_cast<size_t>(r * c.outputs + n)])
            << "row " << r << " output " << n;
    }
  });
}

// A GPU has other kernels for other numbers of rows.
TEST_P(FormatTest, RowsAreTheSameBitsInLargeCompany) {
  for (const auto& [columns, outputs] : {std::pair{768, 2600}, {256, 100}}) {
    const Case c{600, columns, outputs, Prepare::kRmsNorm, Activation::kNone, true, true};
    std::mt19937 random(6);
    const Data d = make_data(random, c, GetParam());
    for_each_candidate([&](const Candidate& candidate) {
      if (candidate.device != "cuda") return;  // on others that is a matter of minutes
      TestDevice device = make_candidate(candidate);
      const Values all = run(device, c, d);
      for (const int rows : {1, 8, 9, 30, 40, 64, 65, 200, 500}) {
        Case some = c;
        some.rows = rows;
        Data fewer = d;
        fewer.x.resize(static_cast<size_t>(rows * columns));
        fewer.before.resize(static_cast<size_t>(rows * outputs));
        const Values result = run(device, some, fewer);
        ASSERT_TRUE(std::equal(result.begin(), result.begin() + rows * outputs, all.begin()))
            << rows << " rows of " << columns << " columns";
      }
    });
  }
}

// Reading a row out of a device's own layout may round differently (a fused multiply-add or none), each term
// at most twice the largest value.
TEST_P(FormatTest, EmbedRows) {
  std::mt19937 random(3);
  const int columns = 512, vocabulary = 37;
  const TestWeight weight = random_weight(random, GetParam(), vocabulary, columns);
  const std::vector<int32_t> ids = {0, 36, 5, 5, 17};
  const auto run_embed = [&](TestDevice& device) {
    const View out = device.make(5, columns, 16);
    device.stream().submit(EmbedRows{device.weight(weight.format, vocabulary, columns, weight.bytes),
                                     device.put_integers(ids), out, 2.5f});
    return device.get(out);
  };
  TestDevice reference = make_reference();
  const Values expected = run_embed(reference);
  float largest = 0;
  for (const float v : expected) largest = std::max(largest, std::abs(v));
  for_each_candidate([&](const Candidate& candidate) {
    TestDevice device = make_candidate(candidate);
    const Values actual = run_embed(device);
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(expected[i], actual[i], 8 * kEpsilon * largest) << "value " << i;
  });
}

INSTANTIATE_TEST_SUITE_P(AllFormats, FormatTest, testing::ValuesIn(all_formats()), format_name);

}  // namespace
}  // namespace tempo9::backend
