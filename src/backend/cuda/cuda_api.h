// The CUDA runtime's calls as this room makes them: errors as values, and the few functions of the driver
// that the runtime lacks.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "base/result.h"

namespace tempo9::backend::cuda {

// kOutOfMemory or kInternal; the message says what was tried and what the runtime said.
Status check(cudaError_t error, const char* what);

// Whether there is a driver and GPU `index`; the message says which of them is missing.
Status check_device(int index);

// Virtual memory: an address range first, memory mapped into it then.
struct VirtualMemory {
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free_range = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
};
Result<VirtualMemory> find_virtual_memory();

}  // namespace tempo9::backend::cuda
