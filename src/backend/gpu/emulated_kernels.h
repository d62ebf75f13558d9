// The GPU's kernels on the host, for tests: the same text that runs on a GPU, and the same bits. Slow.
#pragma once
#include <memory>

#include "backend/host/host_kernels.h"

namespace tempo9::backend::gpu {

// `order`: how the threads of a group take turns: "forward" (also empty), "reverse" or "shuffled".
Result<std::unique_ptr<HostKernels>> make_emulated_kernels(const std::string& order);

}  // namespace tempo9::backend::gpu
