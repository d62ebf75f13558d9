#include "backend/cpu/leaf/neon.h"

#include "backend/cpu/targets/make_kernels.h"

namespace tempo9::backend::cpu {
constinit const Kernels kNeonDotprodKernels = make_kernels<NeonDotprodLeaf>("neon_dotprod", AllFormats());
}  // namespace tempo9::backend::cpu
