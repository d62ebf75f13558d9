// What each kernel is given: device pointers and numbers, in one structure. Strides count elements from one
// row to the next. Every kernel runs in groups of GROUP_THREADS; what a group's place in the grid means
// stands with the kernel.
#pragma once

BEGIN_KERNELS

struct NoScratch {
  uint unused;
};

// For group_total().
struct GroupSums {
  float parts[GROUP_SIMDS];
};

// Where a slab begins; null if there is none.
struct Slab {
  DEVICE uchar* base;
};

// As in ops.h.
enum : uint {
  ACTIVATION_NONE,
  ACTIVATION_SILU,
  ACTIVATION_GELU_TANH,
  ACTIVATION_SIGMOID,
  ACTIVATION_CLAMPED_SWIGLU
};
enum : uint { PREPARE_AS_IS, PREPARE_RMS_NORM, PREPARE_GATED };
enum : uint { KV_F32, KV_F16, KV_BF16, KV_Q8_0 };
// As in quant/formats.h.
enum : uint {
  FORMAT_F32 = 0,
  FORMAT_F16 = 1,
  FORMAT_Q4_0 = 2,
  FORMAT_Q4_1 = 3,
  FORMAT_Q5_0 = 6,
  FORMAT_Q5_1 = 7,
  FORMAT_Q8_0 = 8,
  FORMAT_Q2_K = 10,
  FORMAT_Q3_K = 11,
  FORMAT_Q4_K = 12,
  FORMAT_Q5_K = 13,
  FORMAT_Q6_K = 14,
  FORMAT_IQ4_NL = 20,
  FORMAT_IQ4_XS = 23,
  FORMAT_BF16 = 30,
  FORMAT_MXFP4 = 39
};

// Matrices are read in pieces of 16 columns, by a lane each.
enum : uint { PIECE = 16 };
// Tokens of a page, and of the parts into which attention over a sequence is divided.
enum : uint { PAGE_TOKENS = 64, SPLIT_TOKENS = 256 };
// Query heads that a group attends for at once; the largest head.
enum : uint { HEAD_TILE = 4, MOST_HEAD_SIZE = 512, MOST_HEAD_PER_THREAD = 4 };
// Splits whose results a thread asks for at once.
enum : uint { MERGE_AHEAD = 8 };
// Rows and outputs of a group of `linear`; columns of a group of `gated_delta`.
enum : uint { ROW_TILE = 8, OUTPUT_TILE = 8, DELTA_COLUMNS = 16, MOST_DELTA_KEY = 1024 };
// Matrices of a stack that a group looks at together.
enum : uint { MOST_LISTED = 512 };
// Bytes that a group of copy_pages moves.
enum : uint { COPY_BYTES = 16384 };

struct EmbedRowsArgs {
  DEVICE const uchar* weight;
  DEVICE const int* ids;
  DEVICE float* out;
  ulong row_bytes;
  uint format, columns, id_stride, out_stride;
  float scale;
};

struct RmsNormArgs {
  DEVICE const float* x;
  DEVICE const float* weight;  // [size] or null
  DEVICE float* out;
  uint x_stride, out_stride, groups, size;  // a row has `groups` parts of `size`
  float epsilon, scale;
  uint add;
};

// Makes the input of a linear operation: [rows][out_stride], columns past the row's own 0.
struct PrepareRowsArgs {
  DEVICE const float* x;
  DEVICE const float* gate;
  DEVICE const float* norm_weight;
  DEVICE float* out;
  uint x_stride, gate_stride, out_stride, columns;
  uint prepare, activation;
  float epsilon;
};

// Of one matrix, or of a stack of which each slot uses one.
struct LinearArgs {
  DEVICE const uchar* weight;  // as in the file
  DEVICE const float* x;       // rows on 16-byte boundaries, padded to whole pieces
  DEVICE const float* bias;    // [outputs], [matrices][outputs], or null
  DEVICE float* out;
  DEVICE const int* lists;  // of expert_lists; null: one matrix
  ulong row_bytes, matrix_bytes;
  uint format, columns, outputs, rows, matrices;
  uint x_stride, out_stride, bias_stride, add;
  uint slots_per_input;  // slots that share a row of x
};

// Slots (row * chosen + rank) sorted by the matrix they ask for: lists[0 .. matrices] are where each matrix's
// slots begin in what follows.
struct ExpertListsArgs {
  DEVICE const int* indices;
  DEVICE int* lists;
  DEVICE ulong* matrices_read;
  uint index_stride, rows, chosen, matrices, outputs;
};

struct RopeAnglesArgs {
  DEVICE const int* positions;
  DEVICE const float* frequencies;
  DEVICE const int* axes;  // or null
  DEVICE float* out;
  uint position_stride, out_stride, rows, pairs;
  float magnitude, temperature_scale;
  int temperature_length;
};

struct RopeArgs {
  DEVICE float* x;
  DEVICE const float* angles;
  uint x_stride, angle_stride, rows, heads, head_size, pairs, adjacent;
};

struct KvWriteArgs {
  DEVICE const float* keys;
  DEVICE const float* values;
  DEVICE const int* page_table;
  DEVICE const int* segments;
  DEVICE const Slab* slabs;
  ulong page_bytes, layer_offset;
  uint pages_per_slab, type, kv_heads, key_size, value_size;
  uint key_stride, value_stride, segment_count, rows;
};

struct AttentionArgs {
  DEVICE const float* queries;
  DEVICE float* out;
  DEVICE const int* page_table;
  DEVICE const int* segments;
  DEVICE const Slab* slabs;
  DEVICE const float* sinks;  // [query heads] or null
  // [rows][query heads][splits][value_size + 2], or null: a group does all splits of its rows and writes
  // `out`.
  DEVICE float* partial;
  ulong page_bytes, layer_offset;
  uint pages_per_slab, type, kv_heads, query_heads, key_size, value_size;
  uint query_stride, out_stride, segment_count, window, splits;
  float scale;
};

struct GatherRowsArgs {
  DEVICE const float* x;
  DEVICE const int* indices;
  DEVICE float* out;
  uint x_stride, index_stride, out_stride, columns;
};

struct SoftcapArgs {
  DEVICE float* x;
  uint stride, columns;
  float cap;
};

struct RouteTopKArgs {
  DEVICE const float* logits;
  DEVICE int* indices;
  DEVICE float* weights;
  uint logit_stride, index_stride, weight_stride, rows, experts, chosen;
};

struct CombineExpertsArgs {
  DEVICE const float* x;
  DEVICE const float* weights;
  DEVICE float* out;
  uint x_stride, weight_stride, out_stride, columns, chosen, activation;
};

struct CopyPagesArgs {
  DEVICE const Slab* slabs;
  DEVICE const int* pairs;
  ulong page_bytes;  // a multiple of 16
  uint pages_per_slab, pair_stride;
};

struct CausalConvArgs {
  DEVICE const float* x;
  DEVICE const float* weight;
  DEVICE float* out;
  DEVICE const int* slots;
  DEVICE const int* segments;
  DEVICE const int* saves;
  DEVICE const Slab* slabs;
  ulong slot_bytes, layer_offset;
  uint slots_per_slab, slot_stride, segment_count, save_count, save_stride;
  uint x_stride, weight_stride, out_stride, columns, taps, activation;
};

struct GatedDeltaArgs {
  DEVICE const float* x;
  DEVICE const float* alpha;
  DEVICE const float* beta;
  DEVICE const float* a;
  DEVICE const float* dt;
  DEVICE float* out;
  DEVICE const int* slots;
  DEVICE const int* segments;
  DEVICE const int* saves;
  DEVICE const Slab* slabs;
  ulong slot_bytes, layer_offset;
  uint slots_per_slab, slot_stride, save_count, save_stride;
  uint x_stride, alpha_stride, beta_stride, out_stride;
  uint key_heads, value_heads, key_size, value_size;
  float epsilon;
};

END_KERNELS
