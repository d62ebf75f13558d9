// Experts, recurrent layers and caps, on every device against the reference. Tolerances count roundings of
// f32 (2^-24 each, relative to the size of what is summed); where a recurrence carries an error on, it
// carries it with a factor below one (decays) and a growth that the bound allows for.
#include <cmath>
#include <cstring>

#include "backend/ops_test_device.h"

namespace tempo9::backend {
namespace {

TEST(OpsLayersTest, Softcap) {
  std::mt19937 random(1);
  const Values x = random_values(random, 3 * 1000, 40);
  const auto run = [&](TestDevice& device) {
    const View view = device.put(x, 3, 1000, 24);
    device.stream().submit(Softcap{view, 30.0f});
    return device.get(view);
  };
  TestDevice reference = make_reference();
  const Values expected = run(reference);
  // tanh may be made from an exponential: an absolute error of some roundings of 2, times the cap.
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const Values actual = run(device);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(expected[i], actual[i], 30 * 16 * kEpsilon) << i;
  });
}

TEST(OpsLayersTest, RmsNormOfHeadsAddedAndScaled) {
  std::mt19937 random(2);
  const int rows = 4, heads = 6, size = 32;
  const Values x = random_values(random, rows * heads * size), w = random_values(random, size),
               before = random_values(random, rows * heads * size);
  for (const bool weighted : {true, false}) {
    const auto run = [&](TestDevice& device) {
      const View out = device.put(before, rows, heads * size, 8);
      device.stream().submit(RmsNorm{device.put(x, rows, heads * size),
                                     weighted ? device.put(w, 1, size) : View{}, out, 1e-6f, heads, true,
                                     0.5f});
      return device.get(out);
    };
    TestDevice reference = make_reference();
    const Values expected = run(reference);
    for_each_candidate([&](const Candidate& c) {
      TestDevice device = make_candidate(c);
      const Values actual = run(device);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(expected[i], actual[i], (size + 16) * kEpsilon * 10) << i;  // |values| < 10
    });
  }
}

TEST(OpsLayersTest, RopeAnglesOfThreeAxesWithATemperature) {
  const std::vector<int32_t> positions = {0, 0, 0, 5, 7, 9, 129, 130, 131};
  const std::vector<int32_t> axes = {0, 1, 2, 0};
  const auto run = [&](TestDevice& device) {
    View p = device.put_integers(positions), a = device.put_integers(axes);
    p.rows = 3, p.columns = p.stride = 3;
    a.rows = 1, a.columns = a.stride = 4;
    const View out = device.make(3, 8);
    device.stream().submit(
        RopeAngles{p, device.put({1.0f, 0.5f, 0.25f, 0.125f}, 1, 4), a, out, 1.0f, 0.1f, 64});
    return device.get(out);
  };
  TestDevice reference = make_reference();
  const Values expected = run(reference);
  EXPECT_FLOAT_EQ(expected[8 + 2], std::cos(7 * 0.5f));
  EXPECT_FLOAT_EQ(expected[16], std::cos(129.0f) * (1 + 0.1f * std::log(3.0f)));
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const Values actual = run(device);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], actual[i], 16 * kEpsilon) << i;
  });
}

TEST(OpsLayersTest, RouteTopK) {
  std::mt19937 random(3);
  const int rows = 7, experts = 40, k = 6;
  Values logits = random_values(random, rows * experts, 2);
  std::fill_n(logits.begin(), experts, 1.5f);  // all equal: the lower indices win
  const auto run = [&](TestDevice& device) {
    const View indices = device.make(rows, k, 10), weights = device.make(rows, k);
    device.stream().submit(RouteTopK{device.put(logits, rows, experts), indices, weights});
    const Values raw = device.get(indices);
    std::vector<int32_t> chosen(raw.size());
    std::memcpy(chosen.data(), raw.data(), raw.size() * sizeof(float));
    return std::pair(chosen, device.get(weights));
  };
  TestDevice reference = make_reference();
  const auto [expected, expected_weights] = run(reference);
  EXPECT_EQ(std::vector<int32_t>(expected.begin(), expected.begin() + k),
            (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const auto [actual, weights] = run(device);
    EXPECT_EQ(actual, expected);
    for (size_t i = 0; i < weights.size(); ++i) ASSERT_NEAR(weights[i], expected_weights[i], 16 * kEpsilon);
  });
}

class ExpertTest : public testing::TestWithParam<std::tuple<quant::Format, bool>> {};

// Against Linear with the one matrix of each slot, which has tests of its own: the same bits.
TEST_P(ExpertTest, ExpertLinearIsLinearWithEachRowsMatrix) {
  const auto [format, per_slot] = GetParam();
  std::mt19937 random(4);
  const int rows = 5, k = 2, experts = 4, columns = 256, outputs = 40;
  const int inputs = per_slot ? rows * k : rows;
  const Values x = random_values(random, static_cast<size_t>(inputs * columns)),
               norm = random_values(random, columns);
  const Values bias = random_values(random, experts * outputs);
  const TestWeight stack = random_weight(random, format, experts * outputs, columns);
  const std::vector<int32_t> chosen = {3, 0, 3, 2, 0, 3, 2, 0, 3, 2};  // expert 1 is asked for by nobody
  const size_t matrix_bytes = stack.bytes.size() / experts;
  const auto check = [&](TestDevice& device, uint64_t matrices_read) {
    const auto experts_weight =
        device.device().load_weight({format, outputs, columns, experts, stack.bytes}).value();
    View indices = device.put_integers(chosen);
    indices.rows = rows, indices.columns = indices.stride = k;
    const View input = device.put(x, inputs, columns, 16), weight_norm = device.put(norm, 1, columns),
               biases = device.put(bias, experts, outputs);
    ExpertLinear op;
    op.input = {
        .prepare = LinearInput::Prepare::kRmsNorm, .x = input, .norm_weight = weight_norm, .epsilon = 1e-5f};
    op.indices = indices;
    op.input_per_slot = per_slot;
    op.outputs[0] = {experts_weight.get(), device.make(rows * k, outputs, 8), biases};
    op.outputs[1] = {experts_weight.get(), device.make(rows * k, outputs)};
    op.count = 2;
    device.stream().submit(op);
    const Values out = device.get(op.outputs[0].out), second = device.get(op.outputs[1].out);
    EXPECT_EQ(device.device().counters().expert_matrices, matrices_read);
    for (int slot = 0; slot < rows * k; ++slot) {
      const auto expert = static_cast<size_t>(chosen[static_cast<size_t>(slot)]);
      const Weight* matrix = device.weight(
          format, outputs, columns, std::span(stack.bytes).subspan(expert * matrix_bytes, matrix_bytes));
      Linear one;
      one.input = op.input;
      const size_t row_offset =
          static_cast<size_t>(per_slot ? slot : slot / k) * static_cast<size_t>(input.stride) * sizeof(float);
      one.input.x = {input.buffer, input.offset + row_offset, 1, columns, input.stride};
      one.outputs[0] = {
          matrix,
          device.make(1, outputs),
          {biases.buffer, biases.offset + expert * outputs * sizeof(float), 1, outputs, outputs}};
      one.outputs[1] = {matrix, device.make(1, outputs)};
      one.count = 2;
      device.stream().submit(one);
      const Values expected = device.get(one.outputs[0].out),
                   expected_second = device.get(one.outputs[1].out);
      for (int n = 0; n < outputs; ++n) {
        ASSERT_EQ(out[static_cast<size_t>(slot * outputs + n)], expected[static_cast<size_t>(n)])
            << "slot " << slot << " output " << n;
        ASSERT_EQ(second[static_cast<size_t>(slot * outputs + n)], expected_second[static_cast<size_t>(n)]);
      }
    }
  };
  TestDevice reference = make_reference();
  check(reference, 2 * chosen.size());  // for each slot and output
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    check(device, 2 * 3);  // once each: experts 0, 2 and 3
  });
}

INSTANTIATE_TEST_SUITE_P(Formats, ExpertTest,
                         testing::Combine(testing::Values(quant::Format::kF32, quant::Format::kMXFP4,
                                                          quant::Format::kQ3_K, quant::Format::kQ8_0),
                                          testing::Bool()));

TEST(OpsLayersTest, CombineExperts) {
  std::mt19937 random(5);
  const int rows = 4, k = 3, columns = 100;
  const Values x = random_values(random, rows * k * columns), weights = random_values(random, rows * k),
               before = random_values(random, rows * columns);
  for (const Activation activation : {Activation::kNone, Activation::kSigmoid}) {
    const auto run = [&](TestDevice& device) {
      const View out = device.put(before, rows, columns, 12);
      device.stream().submit(
          CombineExperts{device.put(x, rows * k, columns, 4), device.put(weights, rows, k), out, activation});
      return device.get(out);
    };
    TestDevice reference = make_reference();
    const Values expected = run(reference);
    for_each_candidate([&](const Candidate& c) {
      TestDevice device = make_candidate(c);
      const Values actual = run(device);
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(expected[i], actual[i], (k + 6) * kEpsilon * 30) << i;  // terms below 10 each
    });
  }
}

// Two sequences, cut into steps of `chunk` rows; the state lies in slot 3 and 1 of the second slab.
struct Recurrence {
  static constexpr int kKeyHeads = 2, kValueHeads = 4, kKeySize = 16, kValueSize = 32, kTaps = 4;
  static constexpr int kConvolved = 2 * kKeyHeads * kKeySize + kValueHeads * kValueSize;
  static constexpr int kTokens[2] = {37, 9};
  Values x, weight, alpha, beta, a, dt;

  Recurrence() {
    std::mt19937 random(6);
    const int rows = kTokens[0] + kTokens[1];
    x = random_values(random, static_cast<size_t>(rows * kConvolved));
    weight = random_values(random, kConvolved * kTaps, 0.5f);
    alpha = random_values(random, static_cast<size_t>(rows * kValueHeads));
    beta = random_values(random, static_cast<size_t>(rows * kValueHeads));
    a = random_values(random, kValueHeads);
    for (float& v : a) v = -std::abs(v);
    dt = random_values(random, kValueHeads);
  }

  static constexpr size_t kConvBytes = (kTaps - 1) * kConvolved * 4,
                          kStateBytes = kConvBytes + kValueHeads * kKeySize * kValueSize * 4,
                          kSlotBytes = kStateBytes + 64;

  // Slots 4 .. 7 of a table.
  struct Slots {
    explicit Slots(TestDevice& device)
        : table(device.device().create_slab_table(2)),
          slab(device.device().allocate(4 * kSlotBytes).value()) {
      table->set(1, slab.get());
    }
    View state(int slot) const {
      return {slab.get(), static_cast<size_t>(slot % 4) * kSlotBytes + 64, 1, kStateBytes / 4,
              kStateBytes / 4};
    }
    std::unique_ptr<SlabTable> table;
    std::unique_ptr<Buffer> slab;
  };

  // One step: `counts` tokens of each sequence from `at` on. Its output rows.
  Values step(TestDevice& device, const Slots& memory, int at, std::array<int, 2> counts,
              std::array<int32_t, 2> slots, const std::vector<int32_t>& saves = {}) const {
    std::vector<int32_t> segments, used;
    Values px, pa, pb;
    int rows = 0;
    for (size_t s = 0; s < 2; ++s) {
      if (counts[s] <= 0) continue;
      const int first = (s == 0 ? 0 : kTokens[0]) + at;
      segments.insert(segments.end(), {rows, counts[s], at, 0});
      used.push_back(slots[s]);
      rows += counts[s];
      const auto take = [&](const Values& from, int width, Values& to) {
        to.insert(to.end(), from.begin() + first * width, from.begin() + (first + counts[s]) * width);
      };
      take(x, kConvolved, px), take(alpha, kValueHeads, pa), take(beta, kValueHeads, pb);
    }
    const StateLayer conv{memory.table.get(), 4, kSlotBytes, 64};
    StateLayer delta = conv;
    delta.layer_offset += kConvBytes;
    const Segments seg{device.put_integers(segments), static_cast<int>(used.size()), rows, at + rows};
    View saved = device.put_integers(saves);
    saved.rows /= 2, saved.columns = saved.stride = 2;
    const View slot_view = device.put_integers(used), mixed = device.make(rows, kConvolved, 8),
               out = device.make(rows, kValueHeads * kValueSize, 4);
    device.stream().submit(CausalConv{device.put(px, rows, kConvolved, 16),
                                      device.put(weight, kConvolved, kTaps), mixed, slot_view, seg, conv,
                                      Activation::kSilu, saved});
    device.stream().submit(GatedDelta{mixed, device.put(pa, rows, kValueHeads),
                                      device.put(pb, rows, kValueHeads), device.put(a, 1, kValueHeads),
                                      device.put(dt, 1, kValueHeads), out, slot_view, seg, delta, kKeyHeads,
                                      kValueHeads, kKeySize, kValueSize, 1e-6f, saved});
    return device.get(out);
  }

  Values run(TestDevice& device, int chunk) const {
    const Slots memory(device);
    std::array<Values, 2> outs;
    for (int at = 0; at < kTokens[0]; at += chunk) {
      const std::array<int, 2> counts = {std::min(chunk, kTokens[0] - at), std::min(chunk, kTokens[1] - at)};
      const Values all = step(device, memory, at, counts, {7, 5});
      auto place = all.begin();
      for (size_t s = 0; s < 2; ++s) {
        const auto n = std::max(0, counts[s]) * kValueHeads * kValueSize;
        outs[s].insert(outs[s].end(), place, place + n);
        place += n;
      }
    }
    outs[0].insert(outs[0].end(), outs[1].begin(), outs[1].end());
    return outs[0];
  }
};

TEST(OpsLayersTest, ConvolutionAndDeltaRuleInTokenOrder) {
  const Recurrence recurrence;
  TestDevice reference = make_reference();
  const Values expected = recurrence.run(reference, 100);
  float largest = 0;
  for (const float v : expected) largest = std::max(largest, std::abs(v));
  EXPECT_GT(largest, 0.05f) << "a test of nothing";
  // Per token some 2 * key_size + 20 roundings of values below 8; over the tokens of a sequence they add up
  // at most.
  const double allowed = Recurrence::kTokens[0] * (2 * Recurrence::kKeySize + 20) * kEpsilon * 8;
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    const Values whole = recurrence.run(device, 100);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(expected[i], whole[i], allowed) << i;
    for (const int chunk : {1, 2, 7}) ASSERT_EQ(recurrence.run(device, chunk), whole) << "steps of " << chunk;
  });
}

// The state saved after a row is the one that a run that ends there leaves behind, to the bit; and saving
// changes nothing else.
TEST(OpsLayersTest, AStateIsSavedAfterAnyRow) {
  const Recurrence recurrence;
  const auto check = [&](TestDevice& device) {
    const Recurrence::Slots memory(device);
    const Values plain = recurrence.run(device, 100);
    for (const int saved : {1, 7, 8, 36, 37}) {
      // After a row of the first sequence to slot 4, after the fifth of the second to slot 6.
      const std::vector<int32_t> saves = {saved - 1, 4, 37 + 4, 6};
      ASSERT_EQ(recurrence.step(device, memory, 0, {37, 9}, {7, 5}, saves), plain) << saved;
      const Values first = device.get(memory.state(4)), second = device.get(memory.state(6));
      recurrence.step(device, memory, 0, {saved, 5}, {7, 5});
      EXPECT_EQ(first, device.get(memory.state(7))) << "after " << saved << " tokens";
      EXPECT_EQ(second, device.get(memory.state(5)));
    }
  };
  TestDevice reference = make_reference();
  check(reference);
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    check(device);
  });
}

TEST(OpsLayersTest, PagesAreCopiedWhole) {
  std::mt19937 random(8);
  // Larger than what one thread takes at once, and no multiple of it.
  const int values = 3 * (256 << 10) / 4 + 16, pages = 5;
  const auto check = [&](TestDevice& device) {
    const auto table = device.device().create_slab_table(3);
    const auto slab = device.device().allocate(2 * static_cast<size_t>(values) * 4).value();
    const auto other = device.device().allocate(2 * static_cast<size_t>(values) * 4).value();
    table->set(0, slab.get());
    table->set(2, other.get());
    const auto page = [&](int p) {
      Buffer* buffer = p < 2 ? slab.get() : other.get();
      return View{buffer, static_cast<size_t>(p % 2) * static_cast<size_t>(values) * 4, 1, values, values};
    };
    const Values a = random_values(random, static_cast<size_t>(values)),
                 b = random_values(random, static_cast<size_t>(values));
    device.stream().upload(page(1), std::as_bytes(std::span(a)));
    device.stream().upload(page(4), std::as_bytes(std::span(b)));
    View pairs = device.put_integers({1, 5, 4, 0});
    pairs.rows = 2, pairs.columns = pairs.stride = 2;
    device.stream().submit(CopyPages{table.get(), 2, static_cast<size_t>(values) * 4, pairs});
    EXPECT_EQ(device.get(page(pages)), a);
    EXPECT_EQ(device.get(page(0)), b);
    EXPECT_EQ(device.get(page(1)), a);
  };
  TestDevice reference = make_reference();
  check(reference);
  for_each_candidate([&](const Candidate& c) {
    TestDevice device = make_candidate(c);
    check(device);
  });
}

}  // namespace
}  // namespace tempo9::backend
