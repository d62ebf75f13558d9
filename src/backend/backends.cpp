// The list of devices.
#include <algorithm>
#include <charconv>

#include "backend/cpu/cpu_kernels.h"
#include "backend/device.h"
#include "backend/gpu/emulated_kernels.h"
#include "backend/host/host_device.h"
#include "backend/reference/reference_kernels.h"
#ifdef TEMPO9_CUDA
#include "backend/cuda/cuda_device.h"
#endif

namespace tempo9::backend {
namespace {

using Made = Result<std::unique_ptr<Device>>;

struct Entry {
  std::string_view name;
  bool offered;  // to users; the others are doubles for tests
  bool automatic;
  // `number`: which of several, if the name said so; empty otherwise.
  Made (*create)(const DeviceOptions&, std::optional<int> number);
};

Status without_number(std::string_view name, std::optional<int> number) {
  if (!number) return {};
  return fail(ErrorCode::kInvalidArgument, "there is one device '{}': it has no number {}", name, *number);
}

Made create_cpu(const DeviceOptions& options, std::optional<int> number) {
  TRY(without_number("cpu", number));
  TRY_ASSIGN(auto kernels, make_cpu_kernels(options));
  return make_host_device("cpu", std::move(kernels), HostPolicy::kPrompt);
}
Made create_reference(const DeviceOptions&, std::optional<int> number) {
  TRY(without_number("reference", number));
  return make_host_device("reference", make_reference_kernels(), HostPolicy::kPrompt);
}
Made create_deferred(const DeviceOptions& options, std::optional<int>) {
  TRY_ASSIGN(auto kernels, make_cpu_kernels(options));
  return make_host_device("deferred", std::move(kernels), HostPolicy::kLate);
}
Made create_gpu_host(const DeviceOptions& options, std::optional<int>) {
  TRY_ASSIGN(auto kernels, gpu::make_emulated_kernels(options.isa));
  return make_host_device("gpu_host", std::move(kernels), HostPolicy::kPrompt);
}
#ifdef TEMPO9_CUDA
Made create_cuda(const DeviceOptions& options, std::optional<int> number) {
  if (!options.isa.empty() && options.isa != "plain")
    return fail(ErrorCode::kInvalidArgument, "unknown variant '{}' of cuda; known is plain", options.isa);
  return cuda::make_device(number.value_or(0), {options.isa.empty(), options.timed});
}
#endif

// In the order in which "auto" tries them.
constexpr Entry kDevices[] = {
#ifdef TEMPO9_CUDA
    {"cuda", true, true, create_cuda},
#endif
    {"cpu", true, true, create_cpu},
    {"reference", true, false, create_reference},
    {"deferred", false, false, create_deferred},
    {"gpu_host", false, false, create_gpu_host},
};

Made create_automatic(const DeviceOptions& options) {
  Made made = nullptr;
  for (const Entry& entry : kDevices) {
    if (!entry.automatic) continue;
    made = entry.create(options, std::nullopt);
    if (made) break;
  }
  return made;
}

}  // namespace

std::vector<std::string_view> device_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kDevices)
    if (entry.offered) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<Device>> create_device(std::string_view name, const DeviceOptions& options) {
  if (name == "auto") return create_automatic(options);
  const size_t colon = std::min(name.find(':'), name.size());
  std::optional<int> number;
  if (colon < name.size()) {
    int value = -1;
    const auto [end, error] = std::from_chars(name.data() + colon + 1, name.data() + name.size(), value);
    if (error != std::errc() || end != name.data() + name.size() || value < 0)
      return fail(ErrorCode::kInvalidArgument, "device '{}': write a number after the colon, as in cuda:0",
                  name);
    number = value;
  }
  for (const Entry& entry : kDevices)
    if (entry.name == name.substr(0, colon)) return entry.create(options, number);
  return fail(ErrorCode::kInvalidArgument, "unknown device '{}'; this build has: auto, {}", name,
              fmt::join(device_names(), ", "));
}

}  // namespace tempo9::backend
