// The table of IQ4_NL and IQ4_XS in unsigned bytes: 128 more.
#pragma once
#include "backend/cpu/format/repack.h"
#include "quant/iq4_nl.h"

namespace tempo9::backend::cpu {

constexpr LevelTable make_iq4_levels() {
  LevelTable table{};
  for (int i = 0; i < 16; ++i) table.bytes[i] = static_cast<uint8_t>(quant::iq4_level(i) + 128);
  return table;
}
inline constexpr LevelTable kIq4Levels = make_iq4_levels();

}  // namespace tempo9::backend::cpu
