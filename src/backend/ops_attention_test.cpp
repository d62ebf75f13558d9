// KvWrite and Attention: store types, head shapes, windows, ragged segments and scattered pages, on every
// device against the reference.
//
// Tolerance. Keys and values are rounded to the store's type on the way in, identically everywhere. What
// remains:
//   scores   d products summed in f32: off by at most (d + 4) * 2^-24 * scale * sum |q||k|; where a device
//   rounds queries to bf16 for a bf16
//            store, each product is off by a relative 2^-9 at most, uniform and independent: six standard
//            deviations of the sum;
//   weights  a score off by e changes a weight by the factor exp(e), so the output by at most 2 * e * max
//   |v|; exp itself adds 2^-22; weights
//            rounded to bf16 add six standard deviations of 2^-9 / sqrt(3) * sqrt(sum p^2) * max |v|, and
//            through their sum as much again;
//   sums     n tokens: (n + 8) * 2^-24 * max |v|.
#include <algorithm>
#include <cmath>

#include "backend/ops_test_device.h"
#include "base/limits.h"

namespace tempo9::backend {
namespace {

constexpr int kPage = limits::kPageTokens;

struct Part {
  int first_position, rows;  // positions before are there already
};

struct Case {
  KvType type;
  int heads, group, size;  // key/value heads, query heads per key/value head, head size
  int window;
  std::vector<Part> parts;
  bool sinks = false;
  int query_heads() const { return heads * group; }
};

// Keys, values and queries of every sequence, from position 0.
struct Data {
  std::vector<Values> keys, values, queries;
  Values sinks;
};

Data make_data(std::mt19937& random, const Case& c) {
  Data d;
  d.sinks = random_values(random, static_cast<size_t>(c.query_heads()));
  for (const Part& part : c.parts) {
    const auto tokens = static_cast<size_t>(part.first_position + part.rows);
    d.keys.push_back(random_values(random, tokens * static_cast<size_t>(c.heads * c.size)));
    d.values.push_back(random_values(random, tokens * static_cast<size_t>(c.heads * c.size)));
    d.queries.push_back(random_values(random, tokens * static_cast<size_t>(c.query_heads() * c.size)));
  }
  return d;
}

// Pages of a layer that lies second in its page, over two slabs, handed out from the end and interleaved
// between sequences.
class Pages {
 public:
  Pages(TestDevice& device, const Case& c) {
    const KvShape shape{c.type, c.heads, c.size, c.size};
    const size_t layer_bytes = device.device().kv_layer_bytes(shape).value();
    int total = 0;
    for (const Part& part : c.parts) total += (part.first_position + part.rows + kPage - 1) / kPage;
    const int per_slab = (total + 1) / 2;
    table_ = device.device().create_slab_table(2);
    for (int s = 0; s < 2; ++s) {
      slabs_.push_back(device.device().allocate(static_cast<size_t>(per_slab) * 2 * layer_bytes).value());
      table_->set(s, slabs_.back().get());
    }
    kv_ = {table_.get(), per_slab, 2 * layer_bytes, layer_bytes, shape};
    next_ = total - 1;
  }
  const KvLayer& kv() const { return kv_; }
  int take() { return next_--; }

 private:
  std::vector<std::unique_ptr<Buffer>> slabs_;
  std::unique_ptr<SlabTable> table_;
  KvLayer kv_;
  int next_;
};

struct Batch {
  std::vector<int32_t> segments, table;
  int rows = 0, longest = 0;
  Segments put(TestDevice& device) const {
    return {device.put_integers(segments), static_cast<int>(segments.size()) / 4, rows, longest};
  }
};

// Page tables of all sequences, page after page in turn.
std::vector<std::vector<int32_t>> hand_out(Pages& pages, const Case& c) {
  std::vector<std::vector<int32_t>> tables(c.parts.size());
  int most = 0;
  for (const Part& part : c.parts)
    most = std::max(most, (part.first_position + part.rows + kPage - 1) / kPage);
  for (int p = 0; p < most; ++p)
    for (size_t s = 0; s < c.parts.size(); ++s)
      if (p * kPage < c.parts[s].first_position + c.parts[s].rows) tables[s].push_back(pages.take());
  return tables;
}

// Writes positions [first, first + rows) of each sequence (in chunks of `chunk`) and returns the attention of
// those rows.
Values run(TestDevice& device, const Case& c, const Data& d, int chunk) {
  const auto pages = std::make_shared<Pages>(device, c);
  const auto tables = hand_out(*pages, c);

  const auto slice = [](const Values& all, int first, int rows, int width) {
    return Values(all.begin() + static_cast<ptrdiff_t>(first) * width,
                  all.begin() + static_cast<ptrdiff_t>(first + rows) * width);
  };
  std::vector<Values> outs(c.parts.size());
  const auto step = [&](auto first_of, auto rows_of, bool attend) {
    Batch batch;
    Values keys, values, queries;
    for (size_t s = 0; s < c.parts.size(); ++s) {
      const int first = first_of(s), rows = rows_of(s);
      if (rows <= 0) continue;
      batch.segments.insert(batch.segments.end(),
                            {batch.rows, rows, first, static_cast<int32_t>(batch.table.size())});
      batch.table.insert(batch.table.end(), tables[s].begin(), tables[s].end());
      batch.rows += rows;
      batch.longest = std::max(batch.longest, first + rows);
      for (const auto& [all, part, width] : {std::tuple(&d.keys[s], &keys, c.heads * c.size),
                                             {&d.values[s], &values, c.heads * c.size},
                                             {&d.queries[s], &queries, c.query_heads() * c.size}}) {
        const Values piece = slice(*all, first, rows, width);
        part->insert(part->end(), piece.begin(), piece.end());
      }
    }
    if (batch.rows == 0) return;
    const Segments segments = batch.put(device);
    const View table = device.put_integers(batch.table),
               k = device.put(keys, batch.rows, c.heads * c.size, 16),
               v = device.put(values, batch.rows, c.heads * c.size);
    device.stream().submit(KvWrite{k, v, table, segments, pages->kv()});
    if (!attend) return;
    const View q = device.put(queries, batch.rows, c.query_heads() * c.size, 16),
               out = device.make(batch.rows, c.query_heads() * c.size, 32);
    device.stream().submit(Attention{.queries = q,
                                     .out = out,
                                     .page_table = table,
                                     .segments = segments,
                                     .kv = pages->kv(),
                                     .sinks = c.sinks ? device.put(d.sinks, 1, c.query_heads()) : View{},
                                     .query_heads = c.query_heads(),
                                     .scale = 1.0f / std::sqrt(static_cast<float>(c.size)),
                                     .window = c.window});
    const Values all = device.get(out);
    size_t at = 0;
    for (size_t s = 0; s < c.parts.size(); ++s) {
      const auto n = static_cast<size_t>(std::max(0, rows_of(s)) * c.query_heads() * c.size);
      outs[s].insert(outs[s].end(), all.begin() + static_cast<ptrdiff_t>(at),
                     all.begin() + static_cast<ptrdiff_t>(at + n));
      at += n;
    }
  };
  step([](size_t) { return 0; }, [&](size_t s) { return c.parts[s].first_position; }, false);
  int longest = 0;
  for (const Part& part : c.parts) longest = std::max(longest, part.rows);
  for (int at = 0; at < longest; at += chunk)
    step([&](size_t s) { return c.parts[s].first_position + at; },
         [&](size_t s) { return std::min(chunk, c.parts[s].rows - at); }, true);
  EXPECT_TRUE(device.stream().synchronize().has_value());  // before the pages go
  Values result;
  for (const Values& out : outs) result.insert(result.end(), out.begin(), out.end());
  return result;
}

// The bound from the top of this file, for one row and head.
double tolerance(const Case& c, const Data& d, size_t s, int position, int head) {
  const int first = c.window == 0 ? 0 : std::max(0, position - c.window + 1), kv_head = head / c.group;
  const double scale = 1 / std::sqrt(c.size);
  const float* q = d.queries[s].data() + (position * c.query_heads() + head) * c.size;
  double most_sizes = 0, most_squares = 0, largest_value = 0, total = 0, squares_of_weights = 0;
  for (int p = first; p <= position; ++p) {
    const float* k = d.keys[s].data() + (p * c.heads + kv_head) * c.size;
    const float* v = d.values[s].data() + (p * c.heads + kv_head) * c.size;
    double sizes = 0, squares = 0, score = 0;
    for (int i = 0; i < c.size; ++i) {
      sizes += std::abs(q[i] * k[i]), squares += std::pow(q[i] * k[i], 2), score += q[i] * k[i];
      largest_value = std::max(largest_value, static_cast<double>(std::abs(v[i])));
    }
    most_sizes = std::max(most_sizes, sizes), most_squares = std::max(most_squares, squares);
    total += std::exp(score * scale), squares_of_weights += std::exp(2 * score * scale);
  }
  const bool rounds = c.type == KvType::kBF16;
  const double bf16 = 0x1p-9 / std::sqrt(3.0);
  const double score_error = (c.size + 4) * kEpsilon * scale * most_sizes +
                             (rounds ? 6 * bf16 * scale * std::sqrt(most_squares) : 0) + 0x1p-22;
  const double weight_error = rounds ? 2 * 6 * bf16 * std::sqrt(squares_of_weights) / total : 0;
  return (2 * score_error + weight_error + (position - first + 9) * kEpsilon) * largest_value * 1.01;
}

void check(const Case& c) {
  SCOPED_TRACE(fmt::format("type {} heads {} group {} size {} window {}", static_cast<int>(c.type), c.heads,
                           c.group, c.size, c.window));
  std::mt19937 random(static_cast<unsigned>(c.size + c.window));
  const Data d = make_data(random, c);
  TestDevice reference = make_reference();
  const Values expected = run(reference, c, d, 1 << 20);
  for_each_candidate([&](const Candidate& candidate) {
    TestDevice device = make_candidate(candidate);
    const Values whole = run(device, c, d, 1 << 20);
    size_t at = 0;
    for (size_t s = 0; s < c.parts.size(); ++s)
      for (int r = 0; r < c.parts[s].rows; ++r)
        for (int h = 0; h < c.query_heads(); ++h) {
          const double allowed = tolerance(c, d, s, c.parts[s].first_position + r, h);
          for (int i = 0; i < c.size; ++i, ++at)
            ASSERT_NEAR(expected[at], whole[at], allowed)
                << "sequence " << s << " row " << r << " head " << h << " element " << i;
        }
    for (const int chunk : {1, 7})
      ASSERT_EQ(run(device, c, d, chunk), whole) << "chunks of " << chunk << " rows differ from the whole";
  });
}

TEST(OpsAttentionTest, OneRowOfAShortSequence) {
  check({KvType::kF16, 3, 3, 64, 0, {{0, 1}}});
}
TEST(OpsAttentionTest, OneRowAfterALongContext) {
  check({KvType::kF16, 1, 4, 64, 0, {{1300, 2}}});
}
TEST(OpsAttentionTest, RaggedRowsOfSeveralSequences) {
  check({KvType::kF16, 2, 2, 64, 0, {{0, 70}, {130, 1}, {63, 2}, {500, 33}}});
}
TEST(OpsAttentionTest, Float32Store) {
  check({KvType::kF32, 2, 3, 64, 0, {{60, 20}, {0, 9}}});
}
TEST(OpsAttentionTest, BFloat16Store) {
  check({KvType::kBF16, 2, 3, 64, 0, {{60, 20}, {0, 9}}});
}
TEST(OpsAttentionTest, Q8Store) {
  check({KvType::kQ8_0, 2, 3, 64, 0, {{60, 20}, {0, 9}, {600, 2}}});
  for (const int size : {16, 80, 256}) check({KvType::kQ8_0, 1, 2, size, 0, {{61, 9}}});
  check({KvType::kQ8_0, 1, 2, 64, 20, {{150, 40}}, true});
}
TEST(OpsAttentionTest, HeadSizes) {
  for (const int size : {32, 80, 96, 128, 256}) check({KvType::kF16, 1, 2, size, 0, {{61, 9}}});
}
TEST(OpsAttentionTest, ManyQueryHeadsPerKeyHead) {
  check({KvType::kF16, 1, 16, 64, 0, {{10, 5}}});
}
TEST(OpsAttentionTest, Windows) {
  for (const int window : {1, 16, 64, 100}) check({KvType::kF16, 2, 1, 64, window, {{150, 40}, {0, 30}}});
}
TEST(OpsAttentionTest, Sinks) {
  check({KvType::kF16, 2, 4, 64, 0, {{0, 9}, {1100, 3}}, true});
  check({KvType::kF16, 2, 4, 64, 100, {{150, 5}}, true});
}
TEST(OpsAttentionTest, AWindowAtTheSplitsOfALongSequence) {
  check({KvType::kF16, 1, 2, 64, 512, {{1020, 12}}});
}

}  // namespace
}  // namespace tempo9::backend
