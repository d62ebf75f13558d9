// A file mapped read-only. Owns the mapping and the descriptor; movable, not copyable.
// Threads: reading from any number of threads; drop() from one at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace tempo9 {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) noexcept;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  // Fails if the file has shrunk below the mapped size: reading past its new end would raise a bus error.
  Status still_whole() const;
  // Gives the pages wholly inside `range` back to the system; they are read from the file again when touched.
  void drop(std::span<const uint8_t> range) const;

 private:
  std::string path_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace tempo9
