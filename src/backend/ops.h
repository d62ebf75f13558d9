// The vocabulary of operations. An Op is a plain value: a stream may run it, keep it, compare it with the
// last step's or replay it. No op knows a model. backend/reference/ gives each its meaning in scalar f32;
// every other backend is tested against it.
//
// Rows are ragged: prompt chunks, single tokens and rows to verify of many requests lie in one flat batch.
// `Segments` tells where each sequence's rows are. A row's result depends on that row alone (and the pages it
// reads), never on its neighbours or their number.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

namespace tempo9::backend {

class Buffer;
class SlabTable;
class Weight;

// `rows` x `columns` elements (f32 unless an op says int32) inside a buffer. Does not own. A default View
// means "absent".
struct View {
  Buffer* buffer = nullptr;
  size_t offset = 0;  // bytes from the buffer's start; a multiple of 64
  int rows = 0;
  int columns = 0;
  int stride = 0;  // elements from one row to the next

  explicit operator bool() const { return buffer != nullptr; }
  View first_rows(int n) const {
    View v = *this;
    v.rows = n;
    return v;
  }
};

// The int32 table of a step's sequences: `count` rows of {first row, rows, position of the first row, first
// entry in the page table}. Rows of a segment have consecutive positions. `longest` bounds position + 1 over
// all rows, for the choice of a launch's size.
struct Segments {
  View table;
  int count = 0;
  int rows = 0;
  int longest = 0;
};

enum class KvType : uint8_t {
  kF32,
  kF16,
  kBF16,
  // Each 32 elements of a head (the last may be fewer) share a scale: the f16 nearest to m / 127, m being
  // their largest magnitude, or the next larger one if 127 of it were less than m. An element is the nearest
  // whole number (ties to even) to x times the scale's inverse, both f32. A block with m above 127 * 65504,
  // or a NaN, is NaN.
  kQ8_0
};

// One layer's part of a page.
struct KvShape {
  KvType type = KvType::kF16;
  int heads = 0;     // key/value heads
  int key_size = 0;  // elements of a key head
  int value_size = 0;
};

// Where one layer's keys and values lie. Page p is in slab p / pages_per_slab, at (p % pages_per_slab) *
// page_bytes + layer_offset. Inside, the layout is the device's own.
struct KvLayer {
  const SlabTable* slabs = nullptr;
  int pages_per_slab = 0;
  size_t page_bytes = 0;
  size_t layer_offset = 0;
  KvShape shape;
};

enum class Activation : uint8_t {
  kNone,
  kSilu,
  kGeluTanh,  // the tanh form (Hendrycks & Gimpel, arXiv:1606.08415)
  kSigmoid,
  // Only for gated inputs, gpt-oss: g = min(gate, 7), u = clamp(x, -7, 7); g * sigmoid(1.702 g) * (u + 1)
  kClampedSwiglu,
};

// out[r] = weight.row(ids[r]) * scale.  ids: int32 [rows, 1]. An id must be in range.
struct EmbedRows {
  const Weight* weight = nullptr;
  View ids, out;
  float scale = 1.0f;
};

// Each row of x is `groups` equal parts (heads), each normalised by itself with the same weight:
//   part / sqrt(mean(part^2) + epsilon) * weight     (Zhang & Sennrich, arXiv:1910.07467)
// out = that, or (out + that) * scale if `add`. weight: [1, columns / groups], or absent for none. out may be
// x.
struct RmsNorm {
  View x, weight, out;
  float epsilon = 0;
  int groups = 1;
  bool add = false;
  float scale = 1.0f;
};

// How a linear operation's input is made from what lies in memory, so that a device can fuse it with the
// rounding of activations.
//   kAsIs    x
//   kRmsNorm x / sqrt(mean(x^2) + epsilon) * norm_weight
//   kGated   activation(gate) * x (kClampedSwiglu: as it says)
struct LinearInput {
  enum class Prepare : uint8_t { kAsIs, kRmsNorm, kGated } prepare = Prepare::kAsIs;
  View x{};
  View norm_weight{};  // kRmsNorm: [1, columns]
  View gate{};         // kGated: shaped as x
  float epsilon = 0;
  Activation activation = Activation::kNone;
};

// out[r][n] (+)= sum_k weight[n][k] * input[r][k] (+ bias[n]).
struct LinearOutput {
  const Weight* weight = nullptr;
  View out{};        // [rows, weight.rows]
  View bias{};       // [1, weight.rows] or absent
  bool add = false;  // add to what `out` holds (a residual) instead of replacing it
};

// Up to four matrices over one input: queries, keys and values together.
struct Linear {
  LinearInput input;
  std::array<LinearOutput, 4> outputs;
  int count = 0;
};

// out[r][2i], out[r][2i+1] = cos(a), sin(a) times a magnitude; a = positions[r][axis(i)] * frequencies[i],
// both factors f32. positions: int32 [rows, axes]; frequencies: [1, n]; axes: int32 [1, n] or absent (all 0);
// out: [rows, 2n]. The magnitude is `magnitude` * (1 + temperature_scale * ln(1 + floor(p /
// temperature_length))), p being positions[r][0]: rotated queries then carry a temperature that grows with
// length (Ministral). Made once a step, used by every layer.
struct RopeAngles {
  View positions, frequencies, axes, out;
  float magnitude = 1.0f;
  float temperature_scale = 0.0f;
  int temperature_length = 1;
};

enum class RopePairs : uint8_t { kAdjacent, kSplit };  // pair i is (2i, 2i+1), or (i, i + n)

// Rotates the first 2n elements of each head of x in place: (u, v) -> (u cos - v sin, u sin + v cos). angles:
// [rows, 2n].
struct Rope {
  View x;  // [rows, heads * head_size]
  View angles;
  int heads = 0, head_size = 0;
  RopePairs pairs = RopePairs::kAdjacent;
};

// Puts each row's key and value at its position's place in the pages of its sequence. page_table: int32 [1,
// entries]. keys: [rows, heads * key_size], values: [rows, heads * value_size]. The pages must be this
// sequence's own.
struct KvWrite {
  View keys, values, page_table;
  Segments segments;
  KvLayer kv;
};

// out[r][h] = softmax(scale * q[r][h] . K) V over the tokens row r may see: positions 0..p(r) of its own
// sequence, or the last `window` of them. Query head h reads key/value head h / (query_heads / kv heads). K
// and V are read from the pages, so their rounding is part of the meaning.
struct Attention {
  View queries;  // [rows, query_heads * key_size]
  View out;      // [rows, query_heads * value_size]
  View page_table;
  Segments segments;
  KvLayer kv;
  View sinks;  // [1, query_heads] or absent: one more score per head, not scaled, that has no value
  int query_heads = 0;
  float scale = 1.0f;
  int window = 0;  // 0: everything before; W: positions p - W + 1 .. p
};

// out[i] = x[indices[i]].  indices: int32 [n, 1].
struct GatherRows {
  View x, indices, out;
};

// x = cap * tanh(x / cap), in place.
struct Softcap {
  View x;
  float cap = 0;
};

// The k largest of each row of logits (ties: lower index), largest first, and the softmax over those k.
// logits: [rows, experts]; indices: int32 [rows, k]; weights: [rows, k]. A softmax over all that is cut to k
// and normalised again is the same.
struct RouteTopK {
  View logits, indices, weights;
};

// Linear with a matrix per row: slot j of row r, out row r * k + j, uses matrix indices[r][j] of each stack.
// The input has a row per row, or per slot. bias: [matrices, weight.rows]. `add` must be false. Only matrices
// that some row asks for are read.
struct ExpertLinear {
  LinearInput input;
  View indices;  // int32 [rows, k]
  std::array<LinearOutput, 2> outputs;
  int count = 0;
  bool input_per_slot = false;
};

// out[r] += sum over j ascending of f(weights[r][j]) * x[r * k + j].  weights: [rows, k]; f: kNone or
// kSigmoid.
struct CombineExperts {
  View x, weights, out;
  Activation activation = Activation::kNone;
};

// Where one recurrent layer keeps its state: slot s is in slab s / slots_per_slab, at (s % slots_per_slab) *
// slot_bytes + layer_offset. A slot belongs to one sequence. f32 throughout.
struct StateLayer {
  const SlabTable* slabs = nullptr;
  int slots_per_slab = 0;
  size_t slot_bytes = 0;
  size_t layer_offset = 0;
};

// Page pairs[i][1] becomes a copy of page pairs[i][0], for whole pages (or slots) of one group. pairs: int32
// [n, 2]; the targets are distinct and none of them is a source.
struct CopyPages {
  const SlabTable* slabs = nullptr;
  int pages_per_slab = 0;
  size_t page_bytes = 0;
  View pairs;
};

// Depthwise causal convolution in token order: out[t][c] = activation(sum over j of weight[c][j] * x[t - taps
// + 1 + j][c]), rows before the sequence's start being 0. weight: [columns, taps]. slots: int32 [segments,
// 1]. The state is [taps - 1][columns], the last inputs, oldest first; a segment at position 0 starts from
// zeros. saves: int32 [n, 2] of {row, slot} with rows ascending, or absent: the state as it is after that row
// is also written to that slot.
struct CausalConv {
  View x, weight, out, slots;
  Segments segments;
  StateLayer state;
  Activation activation = Activation::kNone;
  View saves{};
};

// The gated delta rule in token order (Yang et al., arXiv:2412.06464). Row r of x holds `key_heads` queries
// and as many keys of key_size, then `value_heads` values of value_size; value head j goes with key head j
// mod key_heads.
//   q = q / sqrt(sum q^2 + epsilon) / sqrt(key_size), k = k / sqrt(sum k^2 + epsilon)
//   S = exp(a * softplus(alpha + dt)) * S;  S += k (outer) sigmoid(beta) * (v - S^T k);  out = S^T q
// alpha, beta: [rows, value_heads]; a, dt: [1, value_heads]; out: [rows, value_heads * value_size]. The state
// is [value_heads][key_size][value_size], value_size = 16 n; a segment at position 0 starts from zeros.
// saves: as in CausalConv.
struct GatedDelta {
  View x, alpha, beta, a, dt, out, slots;
  Segments segments;
  StateLayer state;
  int key_heads = 0, value_heads = 0, key_size = 0, value_size = 0;
  float epsilon = 1e-6f;
  View saves{};
};

using Op = std::variant<EmbedRows, RmsNorm, Linear, RopeAngles, Rope, KvWrite, Attention, GatherRows, Softcap,
                        RouteTopK, ExpertLinear, CombineExperts, CopyPages, CausalConv, GatedDelta>;

// In the variant's order.
enum class OpKind : uint8_t {
  kEmbedRows,
  kRmsNorm,
  kLinear,
  kRopeAngles,
  kRope,
  kKvWrite,
  kAttention,
  kGatherRows,
  kSoftcap,
  kRouteTopK,
  kExpertLinear,
  kCombineExperts,
  kCopyPages,
  kCausalConv,
  kGatedDelta
};
inline constexpr int kOpKinds = static_cast<int>(std::variant_size_v<Op>);
const char* op_name(OpKind kind);

}  // namespace tempo9::backend
