#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tempo9 {

Result<MappedFile> MappedFile::open(const std::string& path) {
  MappedFile file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.descriptor_ < 0) return fail(ErrorCode::kIo, "cannot open '{}': {}", path, std::strerror(errno));
  struct stat info = {};
  if (::fstat(file.descriptor_, &info) != 0)
    return fail(ErrorCode::kIo, "cannot read the size of '{}': {}", path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::kIo, "'{}' is not a regular file", path);
  file.size_ = static_cast<size_t>(info.st_size);
  if (file.size_ == 0) return file;  // mmap refuses an empty range
  void* data = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, file.descriptor_, 0);
  if (data == MAP_FAILED) {
    file.size_ = 0;
    return fail(ErrorCode::kIo, "cannot map '{}': {}", path, std::strerror(errno));
  }
  file.data_ = static_cast<const uint8_t*>(data);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept {
  *this = std::move(other);
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status MappedFile::still_whole() const {
  struct stat info = {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0)
    return fail(ErrorCode::kIo, "'{}' can no longer be read", path_);
  if (static_cast<size_t>(info.st_size) < size_)
    return fail(ErrorCode::kCorrupt, "'{}' was {} bytes when it was opened and is {} now", path_, size_,
                info.st_size);
  return {};
}

void MappedFile::drop(std::span<const uint8_t> range) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(range.data()) + page - 1) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(range.data() + range.size()) / page * page;
  if (end > begin) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace tempo9
