// Reads one GGUF file out of memory and checks all of it; file.h joins the files of a series. Memory: at most
// kMaxMetadataEntries entries and kMaxTensors tensors, each backed by bytes of the file: less than four times
// its size. Time: linear in the file's header, but for sorting names and offsets.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "gguf/file.h"
#include "gguf/metadata.h"
#include "gguf/reader.h"

namespace tempo9::gguf {

// The contents of one file; views into its bytes.
struct Part {
  uint32_t version = 0;
  uint64_t alignment = 32;  // the format's default
  Metadata metadata;
  std::vector<Tensor> tensors;
};

class Parser {
 public:
  // `file` is what the tensors will name as their mapping; null for bytes that are in no file.
  Parser(std::span<const uint8_t> bytes, const MappedFile* file)
      : bytes_(bytes), file_(file), reader_(bytes) {}
  Result<Part> run();

 private:
  static constexpr uint64_t kUnnumbered = ~uint64_t{0};
  // What is being read, for messages.
  struct Place {
    const char* what;
    uint64_t number = kUnnumbered;  // counted from 0
    std::string_view name = {};     // empty while not yet known; then it stands for the number
  };
  static std::string describe_place(const Place& place);
  tl::unexpected<Error> cut_off(const Place& place) const;

  Status read_header();
  Status check_count(const char* what, uint64_t count, uint64_t smallest_bytes, uint64_t limit) const;
  Result<std::string_view> read_name(uint64_t limit, const Place& place);
  Status read_metadata();
  Result<Entry> read_entry(uint64_t number);
  Status skip_elements(const Entry& entry, const Place& place);
  Status read_alignment();
  Status read_tensors();
  Status read_tensor(uint64_t number);
  static Result<uint64_t> tensor_bytes(const Tensor& tensor, const Place& place);
  Status place_tensors();
  Status check_overlap() const;

  // Where a tensor's bytes are, counted from the start of the tensor data.
  struct Extent {
    uint64_t offset, bytes;
  };

  std::span<const uint8_t> bytes_;
  const MappedFile* file_;
  Reader reader_;
  uint64_t tensor_count_ = 0, entry_count_ = 0;
  Part part_;
  std::vector<Extent> extents_;  // of part_.tensors
};

}  // namespace tempo9::gguf
