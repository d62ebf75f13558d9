// Rotary frequencies.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "backend/device.h"
#include "gguf/metadata.h"

namespace tempo9::model {

// Frequencies of a head's pairs and what the cosines and sines are multiplied by.
struct RopeFrequencies {
  std::vector<float> values;
  float magnitude = 1.0f;
};

// theta^(-2i / dimensions), i = 0 .. dimensions/2 - 1, in f32. (Su et al., arXiv:2104.09864.)
std::vector<float> rope_frequencies(double theta, int dimensions);

// How `rope.scaling.*` of a file changes them: none, linear, or YaRN (Peng et al., arXiv:2309.00071).
struct RopeScaling {
  // Whether YaRN's two boundaries are rounded outwards to whole dimensions; a matter of the family.
  enum class Boundaries { kRounded, kFractional } boundaries = Boundaries::kRounded;
  double factor = 1.0;
  bool yarn = false;
  double original_context = 0, beta_fast = 32, beta_slow = 1;
  double log_multiplier = 0;  // 0: absent
};
// Reads "<prefix>.rope.scaling.*"; a kind that is not known is refused by name.
Result<RopeScaling> read_rope_scaling(const gguf::Metadata& metadata, std::string_view prefix);
RopeFrequencies scaled_rope_frequencies(double theta, int dimensions, const RopeScaling& scaling);

// A small vector of 4-byte values on the device.
struct DeviceVector {
  std::unique_ptr<backend::Buffer> buffer;
  backend::View view;
};
Result<DeviceVector> make_device_vector(backend::Device& device, std::span<const std::byte> values);
inline Result<DeviceVector> make_device_vector(backend::Device& device, const std::vector<float>& values) {
  return make_device_vector(device, std::as_bytes(std::span(values)));
}

}  // namespace tempo9::model
