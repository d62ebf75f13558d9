// The scalar value types: size, name, and access with the C++ type that each stands for.
#pragma once
#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "gguf/metadata.h"
#include "gguf/reader.h"

namespace tempo9::gguf {

// Calls `use` with the scalar that lies at `bytes`, as the C++ type of `type`.
template <class Use>
auto visit_scalar(ValueType type, const uint8_t* bytes, Use use) {
  switch (type) {
    case ValueType::kUint8:
      return use(load<uint8_t>(bytes));
    case ValueType::kInt8:
      return use(load<int8_t>(bytes));
    case ValueType::kUint16:
      return use(load<uint16_t>(bytes));
    case ValueType::kInt16:
      return use(load<int16_t>(bytes));
    case ValueType::kUint32:
      return use(load<uint32_t>(bytes));
    case ValueType::kInt32:
      return use(load<int32_t>(bytes));
    case ValueType::kFloat32:
      return use(load<float>(bytes));
    case ValueType::kBool:
      return use(*bytes != 0);
    case ValueType::kUint64:
      return use(load<uint64_t>(bytes));
    case ValueType::kInt64:
      return use(load<int64_t>(bytes));
    case ValueType::kFloat64:
      return use(load<double>(bytes));
    case ValueType::kString:
    case ValueType::kArray:
      break;
  }
  check_failed("a scalar type", __FILE__, __LINE__);
}

inline uint64_t scalar_bytes(ValueType type) {
  constexpr uint8_t kNothing[8] = {};
  return visit_scalar(type, kNothing, [](auto value) -> uint64_t { return sizeof(value); });
}

inline std::string_view type_name(ValueType type) {
  constexpr std::string_view kNames[] = {"uint8", "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
                                         "bool",  "string", "array",  "uint64", "int64",  "float64"};
  return kNames[static_cast<uint32_t>(type)];
}

}  // namespace tempo9::gguf
