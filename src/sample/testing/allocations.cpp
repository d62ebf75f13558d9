#include "sample/testing/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

// A unit of its own: inlined into a caller, malloc() and delete would look mismatched to the compiler.
namespace {
std::atomic<int> allocations{0};
}

void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void* operator new(size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace tempo9::sample::testing {
int allocations_so_far() {
  return allocations;
}
}  // namespace tempo9::sample::testing
