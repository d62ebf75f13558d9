#include "backend/cpu/leaf/avx512.h"

#include "backend/cpu/targets/make_kernels.h"

namespace tempo9::backend::cpu {
constinit const Kernels kAvx512Kernels = make_kernels<Avx512Leaf>("avx512", AllFormats());
}  // namespace tempo9::backend::cpu
