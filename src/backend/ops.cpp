#include "backend/ops.h"

namespace tempo9::backend {

const char* op_name(OpKind kind) {
  static constexpr const char* kNames[] = {"embed_rows", "rms_norm",    "linear",        "rope_angles",
                                           "rope",       "kv_write",    "attention",     "gather_rows",
                                           "softcap",    "route_top_k", "expert_linear", "combine_experts",
                                           "copy_pages", "causal_conv", "gated_delta"};
  static_assert(std::size(kNames) == static_cast<size_t>(kOpKinds));
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace tempo9::backend
