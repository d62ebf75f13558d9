// Linear operations on tensor cores.
#pragma once
#include "backend/cuda/launch_queue.h"
#include "backend/gpu/launcher.h"

namespace tempo9::backend::cuda {

// Queue what computes those outputs of the operation whose weights tensor cores take, and give the operation
// with the others (count 0: none). `beside`: the operation needs nothing of the last launch
// (LaunchQueue::add).
Linear run_on_tensor_cores(const Linear& op, gpu::Launcher& launcher, LaunchQueue& queue, bool beside);
ExpertLinear run_on_tensor_cores(const ExpertLinear& op, gpu::Launcher& launcher, LaunchQueue& queue);

// Whether the kernels that compute it prepare its input: they use no scratch memory.
bool prepares_itself(const Linear& op);
bool prepares_itself(const ExpertLinear& op);

}  // namespace tempo9::backend::cuda
