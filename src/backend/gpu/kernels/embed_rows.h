// Rows of a matrix by their numbers.
#pragma once
#include "pieces.h"

BEGIN_KERNELS

// grid: x = row, y = block of pieces
KERNEL(embed_rows, EmbedRowsArgs, NoScratch) {
  const uint piece = c.group_y * GROUP_THREADS + c.tid;
  if (piece * PIECE >= a.columns) return;
  const uint id = uint(a.ids[c.group * a.id_stride]);
  float values[PIECE];
  decode_piece(a.format, a.weight + id * a.row_bytes, piece, a.columns, values);
  DEVICE float* out = a.out + ulong(c.group) * a.out_stride + piece * PIECE;
  UNROLL for (uint i = 0; i < PIECE; ++i) if (piece * PIECE + i < a.columns) out[i] = values[i] * a.scale;
}

END_KERNELS
