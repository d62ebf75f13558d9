// A GGUF model file (version 2 or 3, little endian, one file or a split series), mapped read-only. Knows no
// model. Every length, count, offset, alignment, type and string is checked against the file before use; a
// file that fails is refused with a message naming the part. Owns the mappings; metadata and tensors are
// views into them. Threads: immutable after open, except drop() of the mapping. Specification:
// github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "gguf/metadata.h"
#include "quant/formats.h"

namespace tempo9::gguf {

struct Tensor {
  std::string_view name;
  uint32_t type;   // GGUF id; quant::find_format(type) is null for a type we do not compute with
  int dimensions;  // 1 to 4
  std::array<uint64_t, 4> shape;  // fastest first; unused ones are 1
  std::span<const uint8_t> data;  // inside a mapping; size checked against shape and type
  const MappedFile* file;         // the mapping that holds `data`; null if the file was parsed from memory

  uint64_t columns() const { return shape[0]; }
  uint64_t rows() const { return shape[1] * shape[2] * shape[3]; }
};

struct Part;  // one parsed file; parser.h

class File {
 public:
  // Opens `path`; if it is the first of a split series (…-00001-of-0000N.gguf) opens the others beside it
  // too.
  static Result<std::shared_ptr<const File>> open(const std::string& path);
  // Parses a complete single file held in memory, which must outlive the File. For tests and fuzzing.
  static Result<std::shared_ptr<const File>> parse(std::span<const uint8_t> bytes);

  uint32_t version() const { return version_; }
  uint64_t alignment() const { return alignment_; }
  const Metadata& metadata() const { return metadata_; }
  std::span<const Tensor> tensors() const { return tensors_; }  // in file order
  const Tensor* find_tensor(std::string_view name) const;
  uint64_t total_bytes() const { return total_bytes_; }  // of all files of the series
  // Fails if a mapped file has shrunk since it was opened.
  Status still_whole() const;

 private:
  Result<Part> map(const std::string& path);
  void add(Part part, uint64_t bytes);
  Status add_rest_of_series(const std::string& path, uint64_t count);
  Status index_names();

  uint32_t version_ = 0;
  uint64_t alignment_ = 0, total_bytes_ = 0;
  Metadata metadata_;
  std::vector<Tensor> tensors_;
  std::vector<uint32_t> by_name_;  // indices into tensors_, sorted by name
  std::vector<std::unique_ptr<MappedFile>> files_;
};

}  // namespace tempo9::gguf
