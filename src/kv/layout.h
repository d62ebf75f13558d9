// What each layer keeps between steps, and how layers that keep the same thing form a group. Numbers only:
// this room sees no device.
#pragma once
#include <cstddef>
#include <vector>

namespace tempo9::kv {

enum class Keeps {
  kFull,    // keys and values of every token
  kWindow,  // keys and values of the last `window` tokens
  kState,   // a state of fixed size that every token changes
};

struct LayerLayout {
  Keeps keeps = Keeps::kFull;
  int window = 0;         // kWindow: tokens a row may see, itself included
  size_t page_bytes = 0;  // keys and values of 64 tokens of this layer, or its state; a multiple of 64
};

// Layers with the same `keeps` and `window` share pages: a page holds 64 tokens of all of them, one layer
// after the other. A page of a kState group is the state of one sequence.
struct Group {
  Keeps keeps = Keeps::kFull;
  int window = 0;
  size_t page_bytes = 0;
};

struct LayerPlace {
  int group = 0;
  size_t offset = 0;  // of the layer's part in a page of its group
};

struct Layout {
  std::vector<Group> groups;
  std::vector<LayerPlace> layers;
};

// Groups in the order of their first layer.
Layout make_layout(const std::vector<LayerLayout>& layers);

}  // namespace tempo9::kv
