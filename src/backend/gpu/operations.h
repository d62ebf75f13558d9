// How each operation is done with the kernels of this folder.
#pragma once
#include "backend/gpu/launcher.h"

namespace tempo9::backend::gpu {

struct AttentionArgs;  // kernels/args.h

// Launches what does `op`.
void run_operation(const Op& op, Launcher& launcher);

// The lists of slots by matrix that a stack's kernels work from (kernels/args.h, ExpertListsArgs): the memory
// they need, and the launch that makes them there and counts what will be read.
size_t expert_lists_bytes(const ExpertLinear& op);
void launch_expert_lists(const ExpertLinear& op, std::byte* lists, Launcher& launcher);

// What attention's kernels are given, without partial results, and the launch that folds those.
AttentionArgs attention_args(const Attention& op, Launcher& launcher);
void launch_attention_merge(const AttentionArgs& args, int rows, Launcher& launcher);

// Whether a matrix may stay in the file's own layout on a device: shape and bytes agree.
Status check_weight(const WeightSource& source);
size_t weight_row_bytes(quant::Format format, int columns);

// As Device::kv_layer_bytes.
Result<size_t> kv_layer_bytes(const KvShape& shape);

}  // namespace tempo9::backend::gpu
