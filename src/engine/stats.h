// What the engine tells about itself: plain numbers, taken after a step.
#pragma once
#include <array>
#include <cstdint>

#include "engine/histogram.h"
#include "kv/kv_cache.h"

namespace tempo9::engine {

inline constexpr std::array kSecondsBounds = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,
                                              0.5,   1.0,   2.0,   5.0,  10.0, 20.0, 50.0, 100.0};
inline constexpr std::array kRowsBounds = {1.0,  2.0,   4.0,   8.0,   16.0,   32.0,
                                           64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0};

struct Stats {
  int queued = 0, running = 0;
  uint64_t requests_finished = 0;
  uint64_t preemptions = 0;  // times that a request had to give way and wait again
  uint64_t steps = 0;
  uint64_t passes = 0;            // of prompts, in slices between steps
  uint64_t tokens_computed = 0;   // rows of all of both
  uint64_t tokens_generated = 0;  // chosen
  uint64_t prompt_tokens = 0;     // of requests that were admitted
  uint64_t cached_tokens = 0;     // of those, what was found in the cache
  kv::CacheCounts kv;
  size_t kv_limit_bytes = 0;
  size_t weight_bytes = 0;                        // in the device's memory
  size_t workspace_bytes = 0;                     // of the device and the model, besides weights
  Histogram first_token_seconds{kSecondsBounds};  // from submission
  Histogram token_gap_seconds{kSecondsBounds};    // between two tokens of a reply
  Histogram step_seconds{kSecondsBounds};
  Histogram step_rows{kRowsBounds};
};

}  // namespace tempo9::engine
