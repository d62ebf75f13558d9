#include "engine/step_budget.h"

#include <algorithm>

namespace tempo9::engine {
namespace {

constexpr double kNewest = 0.3;  // weight of the newest step in row_cost_

}  // namespace

// The median: one step that the machine delayed says nothing.
double StepBudget::reply_step() const {
  const size_t n = std::min(reply_count_, kRemembered);
  if (n == 0) return 0;
  auto steps = reply_steps_;
  const auto middle = steps.begin() + static_cast<ptrdiff_t>(n / 2);
  std::nth_element(steps.begin(), middle, steps.begin() + static_cast<ptrdiff_t>(n));
  return *middle;
}

int StepBudget::prompt_rows(int reply_rows) const {
  const int most = std::max(0, options_.step_rows - reply_rows);
  const double step = reply_step();
  if (reply_rows == 0 || step == 0 || row_cost_ == 0) return most;
  const double given = std::chrono::duration<double>(options_.longest_gap).count();
  const double gap = given > 0 ? given : options_.slowdown * step;
  const double rows = (gap - step) / row_cost_;
  const int least = std::min(options_.least_prompt_rows, most);
  return static_cast<int>(std::clamp<double>(rows, least, most));
}

void StepBudget::observe(int reply_rows, int prompt_rows, std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  if (prompt_rows == 0) {
    reply_steps_[reply_count_++ % kRemembered] = seconds;
    return;
  }
  // A small chunk costs little beyond the step's fixed part: noise.
  if (prompt_rows < options_.least_prompt_rows / 2) return;
  const double fixed = reply_rows > 0 ? std::min(reply_step(), seconds) : 0;
  const double cost = (seconds - fixed) / prompt_rows;
  row_cost_ = row_cost_ == 0 ? cost : row_cost_ + kNewest * (cost - row_cost_);
}

}  // namespace tempo9::engine
