// What a target provides: one table of functions per instruction set, all with the same results to the last
// bit (but for BF16 weights where the matrix unit multiplies them: linear_bfloat.h). They work on raw memory
// and know neither threads nor views; cpu_kernels.cpp deals out the work.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backend/cpu/activation.h"
#include "backend/cpu/bfloat_parts.h"
#include "backend/cpu/format/list.h"
#include "backend/ops.h"

namespace tempo9::backend::cpu {

// How the rows of a linear operation's input are made (ops.h, LinearInput).
struct RowRecipe {
  LinearInput::Prepare prepare = LinearInput::Prepare::kAsIs;
  Activation activation = Activation::kNone;
  float epsilon = 0;
  int columns = 0;
  const float* norm_weight = nullptr;
};

// Panels first_panel .. last_panel - 1 of a matrix, with all rows of the input.
struct LinearTask {
  const uint8_t* panels = nullptr;  // of the whole matrix
  int columns = 0, outputs = 0;     // of the matrix; the last panel may be padded
  int first_panel = 0, last_panel = 0;
  const std::byte* input = nullptr;  // rows in the kernel's InputForm
  size_t input_stride = 0;           // bytes
  int rows = 0;
  float* out = nullptr;
  size_t out_stride = 0;        // elements
  const float* bias = nullptr;  // may be null
  bool add = false;             // to what `out` holds
};

// What rows of activations consist of: ActivationBlock, float or BfloatBlock.
enum class InputForm { kBlocks, kFloats, kBfloats };
inline constexpr int kInputForms = 3;

struct LinearKernel {
  void (*run)(const LinearTask& task);
  InputForm input;
};

// The heads of one token in a rotation. Pairs are (2i, 2i + 1), or (i, i + pairs) if `split`.
struct RotateTask {
  const float* angles = nullptr;  // cosine and sine, alternating
  int pairs = 0;
  bool split = false;
  int heads = 0, head_size = 0;
};

// One head of one layer's part of a page.
struct KvHead {
  int key_size = 0, value_size = 0;  // multiples of 16
};

// Up to kMaxRows query heads that share a key/value head and a sequence. Row i is query head (first + i) %
// group of token (first + i) / group.
struct AttentionTask {
  static constexpr int kMaxRows = 64;
  KvHead head;
  const std::byte* const* pages = nullptr;  // of the sequence, from its start: where this layer's part begins
  size_t head_offset = 0;                   // of the key/value head in that part
  const float* queries = nullptr;           // token 0, query head 0 of the group
  float* out = nullptr;                     // likewise
  size_t query_stride = 0, out_stride = 0;  // elements from token to token
  int group = 1;                            // query heads per key/value head
  int first = 0, rows = 0;
  int first_position = 0;  // of token 0
  float scale = 1.0f;
  int window = 0;                // 0: none
  const float* sinks = nullptr;  // per query head of the group, or null
};

// One value head of one sequence, `tokens` tokens in order. Strides are elements from token to token.
struct DeltaTask {
  const float *queries = nullptr, *keys = nullptr;  // of the key head, already scaled to their length
  const float* values = nullptr;
  const float *decays = nullptr, *betas = nullptr;
  float* out = nullptr;
  float* state = nullptr;  // [key_size][value_size]
  size_t unit_stride = 0, value_stride = 0, gate_stride = 0, out_stride = 0;
  int tokens = 0, key_size = 0, value_size = 0;
};

// A split is a fixed range of positions, counted from the sequence's start; splits of a row are folded in
// order. They are what threads share when there are few rows.
inline constexpr int kPageTokens = 64;
inline constexpr int kSplitPages = 8;
inline constexpr int kSplitTokens = kPageTokens * kSplitPages;

// How keys and values of one KvType are stored and used.
struct KvKernels {
  // Puts one token's key and value of one head at place `token` of a page. `clear_next`: a store that holds
  // tokens in pairs clears the other place of the pair.
  void (*write)(std::byte* place, KvHead head, int token, const float* key, const float* value,
                bool clear_next);
  // Everything the task's rows see, straight into task.out.
  void (*attend)(const AttentionTask& task, float* scratch);
  // What they see of one split: the partial result goes to `partial`.
  void (*attend_split)(const AttentionTask& task, int split, float* scratch, float* partial);
  // Folds the partial results of the splits that the task sees, which lie one after the other in their order,
  // and finishes the task.
  void (*fold_splits)(const AttentionTask& task, float* partials, float* scratch);
};

// Floats of one partial result of a task of `rows` rows, and of the scratch memory that a thread needs.
[[gnu::always_inline]] constexpr size_t partial_floats(KvHead head, int rows) {
  return 2 * static_cast<size_t>(AttentionTask::kMaxRows) +
         static_cast<size_t>(rows) * static_cast<size_t>(head.value_size);
}
[[gnu::always_inline]] constexpr size_t attention_scratch_floats(KvHead head) {
  return static_cast<size_t>(AttentionTask::kMaxRows) * static_cast<size_t>(head.key_size) +
         2 * partial_floats(head, AttentionTask::kMaxRows) +
         static_cast<size_t>(kPageTokens) * static_cast<size_t>(head.key_size + head.value_size);
}

struct Kernels {
  const char* name;
  // out may be x (and gate is read by kGated only). Not called for kAsIs.
  void (*prepare_row)(const RowRecipe& recipe, const float* x, const float* gate, float* out);
  void (*quantise_row)(const float* x, int columns, ActivationBlock* out);
  void (*split_row)(const float* x, int columns, BfloatBlock* out);  // null if no kernel reads parts
  // x = activation(x); x = cap * tanh(x / cap).
  void (*activate_row)(Activation activation, float* x, int columns);
  void (*softcap_row)(float cap, float* x, int columns);
  // 16 columns of the state from `column` on.
  void (*delta_columns)(const DeltaTask& task, int column);
  void (*rotate_row)(const RotateTask& task, float* x, float* scratch);  // scratch: 2 * pairs floats
  LinearKernel linear[AllFormats::kCount];
  KvKernels kv[4];  // by KvType: f32, f16, bf16, q8_0
};

}  // namespace tempo9::backend::cpu
