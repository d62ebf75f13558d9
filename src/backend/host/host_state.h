// Where layers with a state keep it in the host's memory, and the order in which it is saved.
#pragma once
#include "backend/host/host_kernels.h"

namespace tempo9::backend {

inline float* slot_pointer(const StateLayer& state, int slot) {
  return reinterpret_cast<float*>(page_pointer(state.slabs, state.slots_per_slab, state.slot_bytes, slot) +
                                  state.layer_offset);
}

// Calls run(part) for the parts of a segment that end with a row to be saved, save(slot) after each, and
// run(part) for the rows that remain.
template <class Run, class Save>
void for_each_saved_part(SegmentRow segment, const View& saves, Run run, Save save) {
  for (int i = 0; i < saves.rows; ++i) {
    const auto* entry = row_pointer<const int32_t>(saves, i);
    const int rows = entry[0] + 1 - segment.first_row;
    if (rows <= 0 || rows > segment.rows) continue;
    SegmentRow part = segment;
    part.rows = rows;
    run(part);
    save(entry[1]);
    segment.first_row += rows, segment.first_position += rows, segment.rows -= rows;
  }
  if (segment.rows > 0) run(segment);
}

}  // namespace tempo9::backend
