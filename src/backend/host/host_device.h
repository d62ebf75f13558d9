// A Device over HostKernels: memory is the host's own, work runs on a thread of the stream.
#pragma once
#include <memory>
#include <string>

#include "backend/host/host_kernels.h"

namespace tempo9::backend {

enum class HostPolicy {
  kPrompt,  // work starts as soon as it is submitted
  // The `deferred` test double: work starts only when somebody waits for it, and the target of a download
  // holds NaNs until then. Code that reads too early, frees too early or counts on the order of submission
  // across streams breaks here, on any machine.
  kLate,
};

std::unique_ptr<Device> make_host_device(std::string name, std::unique_ptr<HostKernels> kernels,
                                         HostPolicy policy);

}  // namespace tempo9::backend
