// The tables, one translation unit each. A unit is compiled for its instruction set, so nothing of it may run
// before isa.cpp has asked the processor: the tables are constants.
#pragma once
#include "backend/cpu/kernels.h"

namespace tempo9::backend::cpu {

extern const Kernels kScalarKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
extern const KvKernels kAvx512Bf16Store;  // replaces the bf16 store of kAvx512Kernels
extern const Kernels kAmxKernels;
#elif defined(__aarch64__)
extern const Kernels kNeonDotprodKernels;
extern const Kernels kNeonI8mmKernels;
#endif

}  // namespace tempo9::backend::cpu
