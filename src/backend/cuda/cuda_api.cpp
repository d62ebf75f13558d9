#include "backend/cuda/cuda_api.h"

namespace tempo9::backend::cuda {
namespace {

// The interface's version that these functions are asked for in.
constexpr unsigned kDriverVersion = 12000;

template <class Function>
Status find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, kDriverVersion, cudaEnableDefault, &result);
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess || found == nullptr)
    return fail(ErrorCode::kUnsupported, "the NVIDIA driver has no {}: it is too old", name);
  function = reinterpret_cast<Function>(found);
  return {};
}

}  // namespace

Status check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  const ErrorCode code = error == cudaErrorMemoryAllocation ? ErrorCode::kOutOfMemory : ErrorCode::kInternal;
  return fail(code, "{} failed on the GPU: {}", what, cudaGetErrorString(error));
}

Status check_device(int index) {
  int driver = 0, count = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return fail(ErrorCode::kUnsupported, "no NVIDIA driver is installed on this machine (libcuda.so.1)");
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver)
    return fail(ErrorCode::kUnsupported,
                "the NVIDIA driver is too old: it knows CUDA {}.{}, this build needs {}.{}", driver / 1000,
                driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
    return fail(ErrorCode::kUnsupported, "the NVIDIA driver finds no GPU on this machine");
  TRY(check(error, "counting GPUs"));
  if (index >= count)
    return fail(ErrorCode::kInvalidArgument, "there is no GPU cuda:{}; this machine has {}", index, count);
  return {};
}

Result<VirtualMemory> find_virtual_memory() {
  VirtualMemory memory;
  TRY(find("cuMemAddressReserve", memory.reserve));
  TRY(find("cuMemAddressFree", memory.free_range));
  TRY(find("cuMemCreate", memory.create));
  TRY(find("cuMemRelease", memory.release));
  TRY(find("cuMemMap", memory.map));
  TRY(find("cuMemUnmap", memory.unmap));
  TRY(find("cuMemSetAccess", memory.set_access));
  return memory;
}

}  // namespace tempo9::backend::cuda
