#include "backend/cpu/leaf/scalar.h"

#include "backend/cpu/targets/make_kernels.h"

namespace tempo9::backend::cpu {
constinit const Kernels kScalarKernels = make_kernels<ScalarLeaf>("scalar", AllFormats());
}  // namespace tempo9::backend::cpu
