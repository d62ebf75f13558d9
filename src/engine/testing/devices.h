// The devices that tests of whole engines run on.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "backend/device.h"

namespace tempo9::engine::testing {

// `names`, and the GPU that this build and machine have, if any.
inline std::vector<std::string> with_gpu(std::initializer_list<std::string> names) {
  std::vector<std::string> all = names;
  if (backend::create_device("cuda", {})) all.emplace_back("cuda");
  return all;
}

}  // namespace tempo9::engine::testing
