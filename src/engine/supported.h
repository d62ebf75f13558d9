// What this build claims to run; `tempo9 matrix` holds it against what it finds.
#pragma once
#include <string_view>
#include <vector>

namespace tempo9::engine {

struct SupportedArchitecture {
  std::string_view name;    // general.architecture
  std::string_view models;  // published ones
  bool takes_images;
};

std::vector<SupportedArchitecture> supported_architectures();

}  // namespace tempo9::engine
