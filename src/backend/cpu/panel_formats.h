// What all instruction sets share about a format: how its panels are made, and read row by row.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backend/cpu/format/panel.h"

namespace tempo9::backend::cpu {

struct PanelFormat {
  quant::Format format;
  int block_columns;
  size_t block_bytes;  // in the file
  size_t unit_bytes;   // of a panel, for a block of each of its 16 rows
  // 16 rows of `blocks` blocks each, by their addresses, to a panel.
  void (*repack)(const uint8_t* const* rows, int blocks, uint8_t* panel);
  // Exactly what quant::decode_row gives for that row.
  void (*decode_row)(const uint8_t* panel, int row, int blocks, float* out);
};

// The number of a format in AllFormats, and so in Kernels::linear.
int format_index(quant::Format format);
const PanelFormat& panel_format(int index);

}  // namespace tempo9::backend::cpu
