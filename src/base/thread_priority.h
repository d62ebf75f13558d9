// For work that may wait while others need the processor.
#pragma once

namespace tempo9 {
// From now on the calling thread, and those that it starts, get about a quarter of a core that a thread of
// ordinary priority wants as well, and all of an idle one. Does nothing where the system refuses.
void lower_thread_priority();
}  // namespace tempo9
