#include "engine/supported.h"

#include "model/architectures.h"

namespace tempo9::engine {

std::vector<SupportedArchitecture> supported_architectures() {
  std::vector<SupportedArchitecture> list;
  for (const model::Architecture& a : model::architectures())
    list.push_back({a.name, a.models, a.takes_images});
  return list;
}

}  // namespace tempo9::engine
