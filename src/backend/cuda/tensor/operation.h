// Linear operations on tensor cores.
#pragma once
#include "backend/cuda/launch_queue.h"
#include "backend/gpu/launcher.h"

namespace tempo9::backend::cuda {

// Queue what computes those outputs of the operation whose weights tensor cores take, and give the operation
// with the others (count 0: none).
Linear run_on_tensor_cores(const Linear& op, gpu::Launcher& launcher, LaunchQueue& queue);
ExpertLinear run_on_tensor_cores(const ExpertLinear& op, gpu::Launcher& launcher, LaunchQueue& queue);

}  // namespace tempo9::backend::cuda
