// The key-value part of a GGUF file. Views into the mapping: a Metadata must not outlive the File it came
// from. Threads: immutable after construction.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tempo9::gguf {

// The format's own ids.
enum class ValueType : uint32_t {
  kUint8 = 0,
  kInt8 = 1,
  kUint16 = 2,
  kInt16 = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUint64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

struct Entry {
  std::string_view key;
  ValueType type;                // of the value; kArray for arrays
  ValueType element_type;        // of an array's elements; otherwise equal to `type`
  uint64_t count;                // elements of an array; otherwise 1
  std::span<const uint8_t> raw;  // the value's bytes in the file (strings with their length prefixes)
};

class Metadata {
 public:
  std::span<const Entry> entries() const { return entries_; }
  const Entry* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // Required values. A missing key, another kind of value or a number out of range is an error that names the
  // key. Any integer type converts if the value fits; a real number accepts float32, float64 and integers.
  Result<std::string_view> string(std::string_view key) const;
  Result<uint64_t> unsigned_integer(std::string_view key) const;
  Result<double> real(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;
  Result<std::vector<std::string_view>> strings(std::string_view key) const;
  Result<std::vector<int64_t>> integers(std::string_view key) const;
  Result<std::vector<double>> reals(std::string_view key) const;
  Result<std::vector<bool>> booleans(std::string_view key) const;

  // The same with a value to use when the key is absent (present but of another kind is still an error).
  Result<uint64_t> unsigned_integer_or(std::string_view key, uint64_t fallback) const;
  Result<double> real_or(std::string_view key, double fallback) const;
  Result<bool> boolean_or(std::string_view key, bool fallback) const;
  Result<std::string_view> string_or(std::string_view key, std::string_view fallback) const;

 private:
  friend class Parser;
  std::vector<Entry> entries_;  // sorted by key
};

}  // namespace tempo9::gguf
