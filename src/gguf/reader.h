// A cursor over bytes that never leaves them. Little endian, any alignment.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace tempo9::gguf {

static_assert(std::endian::native == std::endian::little, "values are copied out of the file as they stand");

template <class T>
T load(const uint8_t* bytes) {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }

  // All return false, and do not move, if the bytes end before.
  bool skip(uint64_t count) {
    if (count > remaining()) return false;
    position_ += count;
    return true;
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  bool read(T& value) {
    if (sizeof(T) > remaining()) return false;
    value = load<T>(bytes_.data() + position_);
    position_ += sizeof(T);
    return true;
  }

  // A string with its length before it.
  bool read(std::string_view& text) {
    const uint64_t begin = position_;
    uint64_t length = 0;
    if (read(length) && skip(length)) {
      text = {reinterpret_cast<const char*>(bytes_.data()) + position_ - length, length};
      return true;
    }
    position_ = begin;
    return false;
  }

  // What was passed since `begin`.
  std::span<const uint8_t> since(uint64_t begin) const { return bytes_.subspan(begin, position_ - begin); }

 private:
  std::span<const uint8_t> bytes_;
  uint64_t position_ = 0;
};

}  // namespace tempo9::gguf
