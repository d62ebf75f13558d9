// What lies between projections and attention in one launch: norms of queries and keys, rotary positions, and
// keys and values into their pages. The bits are those of the operations one by one.
#pragma once
#include <span>

#include "backend/cuda/launch_queue.h"
#include "backend/gpu/launcher.h"

namespace tempo9::backend::cuda {

// Whether `op` may be one of those operations, which then can wait for the KvWrite that ends them.
bool may_precede_kv_write(const Op& op);

// Queues what does `before`, in order, and then `write`; false if they do not belong together.
bool run_as_heads(std::span<const Op> before, const KvWrite& write, const gpu::Launcher& launcher,
                  LaunchQueue& queue);

}  // namespace tempo9::backend::cuda
