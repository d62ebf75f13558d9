#include "backend/cpu/leaf/avx512bf16.h"

#include "backend/cpu/attention.h"
#include "backend/cpu/targets/targets.h"

namespace tempo9::backend::cpu {
constinit const KvKernels kAvx512Bf16Store = AttentionKernel<Avx512Bf16Leaf, BfloatStore>::table();
}  // namespace tempo9::backend::cpu
