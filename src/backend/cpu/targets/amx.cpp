#include "backend/cpu/leaf/amx.h"

#include "backend/cpu/targets/make_kernels.h"

namespace tempo9::backend::cpu {
constinit const Kernels kAmxKernels = make_kernels<AmxLeaf>("amx", AllFormats());
}  // namespace tempo9::backend::cpu
