// The CPU device's kernels: own code per instruction set, chosen at run time, with the same results to the
// last bit on each, for any number of threads and rows.
#pragma once
#include <memory>

#include "backend/host/host_kernels.h"

namespace tempo9::backend {

// Fails if the instruction set that the options (or TEMPO9_CPU_ISA) force is unknown or not this machine's.
Result<std::unique_ptr<HostKernels>> make_cpu_kernels(const DeviceOptions& options);

}  // namespace tempo9::backend
