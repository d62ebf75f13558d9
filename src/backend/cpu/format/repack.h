// The moves of which repacking consists. Only the unit that loads weights calls them.
#pragma once
#include <cstdint>
#include <cstring>

#include "backend/cpu/format/panel.h"

namespace tempo9::backend::cpu {

inline constexpr uint32_t kNibbles = 0x0f0f0f0f;
inline constexpr uint32_t kCrumbs = 0x03030303;
inline constexpr uint32_t kBits = 0x01010101;

// Four adjacent bytes as a word; the first is the lowest.
inline uint32_t load_quad(const uint8_t* p) {
  uint32_t x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

inline void store_quad(uint8_t* lines, int line, int row, uint32_t quad) {
  std::memcpy(lines + kLineBytes * line + 4 * row, &quad, sizeof quad);
}

inline void store_scale(uint8_t* scales, int row, const uint8_t* half) {
  std::memcpy(scales + 2 * row, half, 2);
}

// A file block whose byte i has column i in its low nibble and column i + 16 in the high one is in a panel's
// order already.
inline void store_nibbles(uint8_t* lines, int row, const uint8_t* levels) {
  for (int j = 0; j < 4; ++j) store_quad(lines, j, row, load_quad(levels + 4 * j));
}

// 32 bytes, column after column, of which four bits from `shift` on count.
inline void store_shifted_nibbles(uint8_t* lines, int row, const uint8_t* levels, int shift) {
  for (int j = 0; j < 4; ++j) {
    const uint32_t low = load_quad(levels + 4 * j) >> shift & kNibbles;
    const uint32_t high = load_quad(levels + 16 + 4 * j) >> shift & kNibbles;
    store_quad(lines, j, row, low | high << 4);
  }
}

// 32 bytes, column after column, of which two bits from `shift` on count.
inline void store_shifted_crumbs(uint8_t* lines, int row, const uint8_t* levels, int shift) {
  for (int half = 0; half < 2; ++half) {
    uint32_t four = 0;
    for (int j = 0; j < 4; ++j) four |= (load_quad(levels + 16 * half + 4 * j) >> shift & kCrumbs) << (2 * j);
    store_quad(lines, half, row, four);
  }
}

// 32 bytes, column after column, of which bit `shift` counts.
inline void store_shifted_bits(uint8_t* line, int row, const uint8_t* levels, int shift) {
  uint32_t eight = 0;
  for (int j = 0; j < 8; ++j) eight |= (load_quad(levels + 4 * j) >> shift & kBits) << j;
  store_quad(line, 0, row, eight);
}

// A word with one bit per column.
inline void store_bit_per_column(uint8_t* line, int row, uint32_t word) {
  for (int i = 0; i < 4; ++i) {
    uint8_t byte = 0;
    for (int j = 0; j < 8; ++j) byte |= static_cast<uint8_t>((word >> (4 * j + i) & 1) << j);
    line[4 * row + i] = byte;
  }
}

}  // namespace tempo9::backend::cpu
