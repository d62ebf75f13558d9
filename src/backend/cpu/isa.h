// The choice of an instruction set, once per device.
#pragma once
#include <string_view>
#include <vector>

#include "backend/cpu/kernels.h"
#include "base/result.h"

namespace tempo9::backend::cpu {

// The tables that this machine can run, the fastest first. `scalar` is always there.
std::vector<const Kernels*> runnable_kernels();

// The table named `isa`; if that is empty, the one named by the environment's TEMPO9_CPU_ISA; else the
// fastest. A name that this build does not know, or this machine cannot run, is an error.
Result<const Kernels*> choose_kernels(std::string_view isa);

}  // namespace tempo9::backend::cpu
