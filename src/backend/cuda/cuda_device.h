// NVIDIA GPUs.
#pragma once
#include <memory>

#include "backend/device.h"

namespace tempo9::backend::cuda {

// GPU `index` of this machine. kUnsupported if there is no driver or none that is new enough,
// kInvalidArgument if there is no such GPU. `tensor_cores`: whether they multiply quantised matrices;
// without, every operation is done by the kernels that all GPUs share.
Result<std::unique_ptr<Device>> make_device(int index, bool tensor_cores);

}  // namespace tempo9::backend::cuda
