#include "engine/step_budget.h"

#include <algorithm>

namespace tempo9::engine {
namespace {

constexpr double kNewest = 0.3;       // weight of the newest step in a cost
constexpr double kLeastSlice = 0.25;  // of a step of replies
constexpr int kLeastObserved = 8;     // rows; fewer cost little beyond the step's fixed part: noise
constexpr int kFirstPass = 32;        // rows, as long as nothing is known

void learn(double& cost, double newest) {
  cost = cost == 0 ? newest : cost + kNewest * (newest - cost);
}

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

double StepBudget::gap() const {
  const double given = std::chrono::duration<double>(options_.longest_gap).count();
  return given > 0 ? given : options_.slowdown * reply_step();
}

int StepBudget::prompt_rows(int reply_rows) const {
  const int most = std::max(0, options_.step_rows - reply_rows);
  const double step = reply_step();
  const double cost = std::max(row_cost_, pass_cost_);
  if (reply_rows == 0 || step == 0 || cost == 0) return most;
  const double rows = (gap() - step) / cost;
  const int least = std::min(options_.least_prompt_rows, most);
  return static_cast<int>(std::clamp<double>(rows, least, most));
}

void StepBudget::observe(int reply_rows, int prompt_rows, std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  if (prompt_rows == 0) {
    reply_steps_[reply_count_++ % kRemembered] = seconds;
    return;
  }
  if (prompt_rows < kLeastObserved) return;
  const double fixed = reply_rows > 0 ? std::min(reply_step(), seconds) : 0;
  learn(row_cost_, (seconds - fixed) / prompt_rows);
}

std::chrono::nanoseconds StepBudget::slice() const {
  const double step = reply_step(), seconds = std::max(gap() - step, kLeastSlice * step);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

int StepBudget::pass_rows(int layers) const {
  const double cost = pass_cost_ > 0 ? pass_cost_ : row_cost_;
  if (cost == 0 || reply_step() == 0) return std::min(kFirstPass, options_.step_rows);
  const double time = std::chrono::duration<double>(slice()).count() * std::min(layers, kSlices);
  return static_cast<int>(std::clamp<double>(time / cost, 1, options_.step_rows));
}

void StepBudget::observe_pass(int rows, std::chrono::nanoseconds time) {
  learn(pass_cost_, std::chrono::duration<double>(time).count() / rows);
}

}  // namespace tempo9::engine
