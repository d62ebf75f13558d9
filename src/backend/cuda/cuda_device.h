// NVIDIA GPUs.
#pragma once
#include <memory>

#include "backend/device.h"

namespace tempo9::backend::cuda {

struct Variant {
  bool tensor_cores = true;  // without, every operation is done by the kernels that all GPUs share
  bool timed = false;        // DeviceOptions::timed
};

// GPU `index` of this machine. kUnsupported if there is no driver or none that is new enough,
// kInvalidArgument if there is no such GPU.
Result<std::unique_ptr<Device>> make_device(int index, Variant variant);

}  // namespace tempo9::backend::cuda
