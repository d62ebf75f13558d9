// Attention on tensor cores.
#pragma once
#include "backend/cuda/launch_queue.h"
#include "backend/gpu/launcher.h"

namespace tempo9::backend::cuda {

// Queues what computes the operation; false if tensor cores do not take its keys' type or its heads' size.
bool attend_on_tensor_cores(const Attention& op, gpu::Launcher& launcher, LaunchQueue& queue);

}  // namespace tempo9::backend::cuda
