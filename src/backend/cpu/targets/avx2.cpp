#include "backend/cpu/leaf/avx2.h"

#include "backend/cpu/targets/make_kernels.h"

namespace tempo9::backend::cpu {
constinit const Kernels kAvx2Kernels = make_kernels<Avx2Leaf>("avx2", AllFormats());
}  // namespace tempo9::backend::cpu
