// The list of kernels: each with its arguments. A device makes a table of what it launches from it.
#pragma once

#define GPU_KERNELS(X)                   \
  X(embed_rows, EmbedRowsArgs)           \
  X(rms_norm, RmsNormArgs)               \
  X(prepare_rows, PrepareRowsArgs)       \
  X(linear, LinearArgs)                  \
  X(expert_lists, ExpertListsArgs)       \
  X(rope_angles, RopeAnglesArgs)         \
  X(rope, RopeArgs)                      \
  X(kv_write, KvWriteArgs)               \
  X(attention, AttentionArgs)            \
  X(attention_merge, AttentionArgs)      \
  X(gather_rows, GatherRowsArgs)         \
  X(softcap, SoftcapArgs)                \
  X(route_top_k, RouteTopKArgs)          \
  X(combine_experts, CombineExpertsArgs) \
  X(copy_pages, CopyPagesArgs)           \
  X(causal_conv, CausalConvArgs)         \
  X(causal_conv_states, CausalConvArgs)  \
  X(gated_delta, GatedDeltaArgs)
