// Sixteen-bit floats and bytes as block formats use them. All of it is integer arithmetic or exact, so host
// and device agree to the bit. Plain constexpr functions: a C++14 compiler for a GPU can take this header,
// and the block headers built on it, as they are. Sources: IEEE 754-2008 binary16; bfloat16 is the upper half
// of binary32.
#pragma once
#include <cstdint>

namespace tempo9::quant {

constexpr float float_from_bits(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

constexpr uint32_t float_to_bits(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

// Exact. A signalling NaN becomes quiet, as the conversion instructions of processors do it.
constexpr float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 31u;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 31) {
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return float_from_bits(sign | 0x7f800000u | quiet | mantissa << 13);
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return float_from_bits(sign | float_to_bits(magnitude));
  }
  return float_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

// Rounds to nearest, ties to even; too large becomes infinity, NaN stays NaN (quiet).
constexpr uint16_t float_to_half(float value) {
  const uint32_t bits = float_to_bits(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and beyond
  if (magnitude < 0x38800000u) {
    // Below 2^-14 a half counts steps of 2^-24, which is the last place of a float in [0.5, 1): the addition
    // rounds.
    const float shifted = float_from_bits(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (float_to_bits(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<uint16_t>(sign | (rounded - (112u << 23)) >> 13);
}

constexpr float bfloat_to_float(uint16_t bfloat) {
  return float_from_bits(static_cast<uint32_t>(bfloat) << 16);
}

// Rounds to nearest, ties to even; NaN stays NaN (quiet).
constexpr uint16_t float_to_bfloat(float value) {
  const uint32_t bits = float_to_bits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// Blocks consist of bytes, so they may lie at any address and are little endian on every machine.
constexpr uint16_t load_u16(const uint8_t* bytes) {
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

constexpr uint32_t load_u32(const uint8_t* bytes) {
  return load_u16(bytes) | static_cast<uint32_t>(load_u16(bytes + 2)) << 16;
}

constexpr void store_u16(uint16_t value, uint8_t* bytes) {
  bytes[0] = static_cast<uint8_t>(value);
  bytes[1] = static_cast<uint8_t>(value >> 8);
}

constexpr void store_u32(uint32_t value, uint8_t* bytes) {
  store_u16(static_cast<uint16_t>(value), bytes);
  store_u16(static_cast<uint16_t>(value >> 16), bytes + 2);
}

constexpr float load_half(const uint8_t* bytes) {
  return half_to_float(load_u16(bytes));
}

// Stores `value` as a half and returns what was stored, so that an encoder rounds against the scale that the
// decoder will see.
constexpr float store_half(float value, uint8_t* bytes) {
  const uint16_t half = float_to_half(value);
  store_u16(half, bytes);
  return half_to_float(half);
}

}  // namespace tempo9::quant
