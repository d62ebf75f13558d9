// How many prompt rows a step may take. Alone, prompts get all that the device is set up for; beside running
// replies so many that the gap between two of their tokens stays near a multiple of what it is without
// prompts. Where prompts are computed in slices between the replies' steps, a pass may have many times the
// rows that a slice has time for. Learns from measured steps, so it follows the device, the model and the
// depth. Threads: one at a time.
#pragma once
#include <array>
#include <chrono>

namespace tempo9::engine {

struct StepBudgetOptions {
  int step_rows = 512;                      // of all kinds, at most
  int least_prompt_rows = 16;               // of a step: prompts never stand still
  double slowdown = 2.0;                    // of a gap between tokens that a prompt may cause
  std::chrono::nanoseconds longest_gap{0};  // instead of `slowdown`, if not 0
};

class StepBudget {
 public:
  explicit StepBudget(const StepBudgetOptions& options) : options_(options) {}

  // Prompt rows for a step in which `reply_rows` rows continue replies.
  int prompt_rows(int reply_rows) const;
  void observe(int reply_rows, int prompt_rows, std::chrono::nanoseconds time);

  // Time for prompts between two steps of replies; 0 as long as nothing is known about these.
  std::chrono::nanoseconds slice() const;
  // Prompt rows for a pass in slices over this many layers.
  int pass_rows(int layers) const;
  void observe_pass(int rows, std::chrono::nanoseconds time);

  const StepBudgetOptions& options() const { return options_; }

 private:
  static constexpr size_t kRemembered = 15;
  // More would let a short prompt that comes now wait long; fewer read the weights and what a prompt attends
  // to again and again.
  static constexpr int kSlices = 12;
  double reply_step() const;
  double gap() const;

  StepBudgetOptions options_;
  std::array<double, kRemembered> reply_steps_{};  // seconds of the last steps without prompts
  size_t reply_count_ = 0;
  double row_cost_ = 0;   // seconds that one more prompt row adds, recent steps counting more
  double pass_cost_ = 0;  // likewise seconds of a pass for each of its rows
};

}  // namespace tempo9::engine
