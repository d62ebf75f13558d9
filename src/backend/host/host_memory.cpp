#include <sys/mman.h>

#include <cerrno>

#include "backend/host/host_kernels.h"
#include "base/check.h"

namespace tempo9::backend {
namespace {
constexpr size_t kHugePage = 2 << 20;
constexpr size_t kSmallPage = 4096;

size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
}  // namespace

std::unique_ptr<HostBuffer> HostBuffer::allocate(size_t bytes) {
  const bool huge = bytes >= kHugePage;
  const size_t mapped = round_up(bytes == 0 ? 1 : bytes, kSmallPage);
  // The system aligns to small pages; one huge page more leaves room to cut out an aligned range.
  const size_t reserved = huge ? mapped + kHugePage : mapped;
  void* memory = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* data = static_cast<std::byte*>(memory);
  if (huge) {
    auto* aligned = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<uintptr_t>(data), kHugePage));
    if (aligned != data) ::munmap(data, static_cast<size_t>(aligned - data));
    if (aligned + mapped != data + reserved)
      ::munmap(aligned + mapped, static_cast<size_t>(data + reserved - aligned - mapped));
    // Not the rest after the last whole one, or the process would hold more than was asked for.
    ::madvise(aligned, mapped / kHugePage * kHugePage, MADV_HUGEPAGE);
    data = aligned;
  }
  return std::unique_ptr<HostBuffer>(new HostBuffer(data, bytes, mapped));
}

HostBuffer::~HostBuffer() {
  ::munmap(data_, mapped_);
}

void HostSlabTable::set(int index, Buffer* slab) {
  CHECK(index >= 0 && index < capacity());
  bases_[static_cast<size_t>(index)] = slab == nullptr ? nullptr : static_cast<HostBuffer*>(slab)->data();
}

}  // namespace tempo9::backend
