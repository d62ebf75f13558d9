#include "backend/cpu/leaf/neon_i8mm.h"

#include "backend/cpu/targets/make_kernels.h"

namespace tempo9::backend::cpu {
constinit const Kernels kNeonI8mmKernels = make_kernels<NeonI8mmLeaf>("neon_i8mm", AllFormats());
}  // namespace tempo9::backend::cpu
