// The list of devices.
#include "backend/cpu/cpu_kernels.h"
#include "backend/device.h"
#include "backend/host/host_device.h"
#include "backend/reference/reference_kernels.h"

namespace tempo9::backend {
namespace {

struct Entry {
  std::string_view name;
  Result<std::unique_ptr<Device>> (*create)(const DeviceOptions&);
};

Result<std::unique_ptr<Device>> create_cpu(const DeviceOptions& options) {
  TRY_ASSIGN(auto kernels, make_cpu_kernels(options));
  return make_host_device("cpu", std::move(kernels), HostPolicy::kPrompt);
}
Result<std::unique_ptr<Device>> create_reference(const DeviceOptions&) {
  return make_host_device("reference", make_reference_kernels(), HostPolicy::kPrompt);
}
Result<std::unique_ptr<Device>> create_deferred(const DeviceOptions& options) {
  TRY_ASSIGN(auto kernels, make_cpu_kernels(options));
  return make_host_device("deferred", std::move(kernels), HostPolicy::kLate);
}

constexpr Entry kDevices[] = {
    {"cpu", create_cpu}, {"reference", create_reference}, {"deferred", create_deferred}};

}  // namespace

std::vector<std::string_view> device_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kDevices) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<Device>> create_device(std::string_view name, const DeviceOptions& options) {
  for (const Entry& entry : kDevices)
    if (entry.name == name) return entry.create(options);
  return fail(ErrorCode::kInvalidArgument, "unknown device '{}'; this build has: {}", name,
              fmt::join(device_names(), ", "));
}

}  // namespace tempo9::backend
