#include "base/thread_priority.h"

#include <sys/resource.h>

namespace tempo9 {

void lower_thread_priority() {
#if defined(__linux__)
  // The scheduler's weights: 335 at this value, 1024 at 0 (kernel/sched/core.c). For Linux a thread is a
  // process.
  constexpr int kNice = 5;
  ::setpriority(PRIO_PROCESS, 0, kNice);
#endif
}

}  // namespace tempo9
