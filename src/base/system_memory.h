// How much memory the system could give now.
#pragma once
#include <cstdint>

namespace tempo9 {
// Bytes available without swapping; 0 if the system does not say.
uint64_t available_memory_bytes();
}  // namespace tempo9
