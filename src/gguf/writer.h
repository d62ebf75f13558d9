// Writes GGUF files of version 3: test models, synthetic models, fuzz seeds. First set() the metadata and
// add_tensor() the tensors of a Writer; then to_bytes(), or a FileWriter that takes the tensor data as a
// stream. A programmer's tool: a wrong use (an unknown type, rows that are not whole blocks) is a failed
// CHECK.
#pragma once
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "gguf/metadata.h"

namespace tempo9::gguf {

// The value type that a C++ type is written as.
template <class T>
constexpr ValueType value_type_of() {
  if constexpr (std::is_same_v<T, bool>) return ValueType::kBool;
  if constexpr (std::is_same_v<T, uint8_t>) return ValueType::kUint8;
  if constexpr (std::is_same_v<T, int8_t>) return ValueType::kInt8;
  if constexpr (std::is_same_v<T, uint16_t>) return ValueType::kUint16;
  if constexpr (std::is_same_v<T, int16_t>) return ValueType::kInt16;
  if constexpr (std::is_same_v<T, uint32_t>) return ValueType::kUint32;
  if constexpr (std::is_same_v<T, int32_t>) return ValueType::kInt32;
  if constexpr (std::is_same_v<T, uint64_t>) return ValueType::kUint64;
  if constexpr (std::is_same_v<T, int64_t>) return ValueType::kInt64;
  if constexpr (std::is_same_v<T, float>) return ValueType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return ValueType::kFloat64;
  return ValueType::kString;
}

class Writer {
 public:
  // An alignment other than the format's default becomes the key "general.alignment".
  explicit Writer(uint32_t alignment = 32);

  // The type of `value` is the type in the file. Keys are written in the order of the calls.
  template <class T>
  requires std::is_arithmetic_v<T>
  void set(std::string_view key, T value) {
    begin_entry(key, value_type_of<T>());
    append(metadata_, value);
  }
  void set(std::string_view key, std::string_view value) {
    begin_entry(key, ValueType::kString);
    append(metadata_, value);
  }
  // T: an arithmetic type, std::string or std::string_view.
  template <class T>
  void set_array(std::string_view key, const std::vector<T>& values) {
    begin_entry(key, ValueType::kArray);
    append(metadata_, static_cast<uint32_t>(value_type_of<T>()));
    append(metadata_, static_cast<uint64_t>(values.size()));
    for (const T& value : values) append(metadata_, value);
  }

  // `type` is a GGUF id, `shape` has the fastest dimension first. Returns the bytes of the tensor's data.
  uint64_t add_tensor(std::string_view name, uint32_t type, std::span<const uint64_t> shape);

  // Everything before the tensor data, padded.
  std::vector<uint8_t> header() const;
  // The whole file; `data` holds one entry for each tensor, in the order of the calls.
  std::vector<uint8_t> to_bytes(std::span<const std::vector<uint8_t>> data) const;

  uint64_t alignment() const { return alignment_; }
  std::span<const uint64_t> tensor_bytes() const { return tensor_bytes_; }

 private:
  using Bytes = std::vector<uint8_t>;
  template <class T>
  requires std::is_arithmetic_v<T>
  static void append(Bytes& out, T value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof(T));
  }
  static void append(Bytes& out, std::string_view text);
  void begin_entry(std::string_view key, ValueType type);

  uint64_t alignment_;
  uint64_t entry_count_ = 0;
  uint64_t next_offset_ = 0;
  Bytes metadata_, tensors_;  // the two tables as they stand in the file
  std::vector<uint64_t> tensor_bytes_;
};

class FileWriter {
 public:
  // Creates or truncates the file and writes the header. Errors: kIo.
  static Result<FileWriter> create(const std::string& path, const Writer& layout);
  // More of the tensors' data, in order, in pieces of any size; padding comes by itself.
  Status append(std::span<const uint8_t> data);
  // Call it once all data has been given.
  Status finish();

 private:
  FileWriter(std::string path, const Writer& layout);
  Status write(std::span<const uint8_t> bytes);

  std::string path_;
  std::ofstream file_;
  uint64_t alignment_;
  std::vector<uint64_t> tensor_bytes_;
  size_t tensor_ = 0;     // the one that receives data
  uint64_t written_ = 0;  // bytes of it
};

}  // namespace tempo9::gguf
