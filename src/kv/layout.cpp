#include "kv/layout.h"

#include <algorithm>

namespace tempo9::kv {

Layout make_layout(const std::vector<LayerLayout>& layers) {
  Layout layout;
  for (const LayerLayout& layer : layers) {
    auto group = std::find_if(layout.groups.begin(), layout.groups.end(), [&](const Group& g) {
      return g.keeps == layer.keeps && g.window == layer.window;
    });
    if (group == layout.groups.end())
      group = layout.groups.insert(group, Group{layer.keeps, layer.window, 0});
    layout.layers.push_back({static_cast<int>(group - layout.groups.begin()), group->page_bytes});
    group->page_bytes += layer.page_bytes;
  }
  return layout;
}

}  // namespace tempo9::kv
