#include "engine/step_budget.h"

#include <gtest/gtest.h>

namespace tempo9::engine {
namespace {

using std::chrono::microseconds;

// A device whose steps take 10 ms and 100 us a prompt row.
microseconds time_of(int prompt_rows) {
  return microseconds(10'000 + 100 * prompt_rows);
}

TEST(StepBudgetTest, AloneAPromptGetsTheWholeStep) {
  StepBudget budget({.step_rows = 512});
  EXPECT_EQ(budget.prompt_rows(0), 512);
  budget.observe(0, 512, time_of(512));
  EXPECT_EQ(budget.prompt_rows(0), 512);
}

TEST(StepBudgetTest, BesideRepliesTheGapStaysNearItsMultiple) {
  StepBudget budget({.step_rows = 512, .slowdown = 2.5});
  for (int i = 0; i < 10; ++i) budget.observe(1, 0, time_of(0));
  int rows = 0;
  for (int i = 0; i < 20; ++i) {
    rows = budget.prompt_rows(1);
    budget.observe(1, rows, time_of(rows));
  }
  EXPECT_NEAR(rows, 150, 2) << "10 ms + 15 ms";
}

TEST(StepBudgetTest, AGapInMillisecondsIsKeptToo) {
  StepBudget budget({.step_rows = 512, .longest_gap = std::chrono::milliseconds(20)});
  for (int i = 0; i < 10; ++i) budget.observe(1, 0, time_of(0));
  for (int i = 0; i < 20; ++i) budget.observe(1, budget.prompt_rows(1), time_of(budget.prompt_rows(1)));
  EXPECT_NEAR(budget.prompt_rows(1), 100, 2);
}

TEST(StepBudgetTest, PromptsNeverStandStill) {
  StepBudget budget({.step_rows = 512, .least_prompt_rows = 16, .longest_gap = std::chrono::milliseconds(1)});
  for (int i = 0; i < 10; ++i) budget.observe(1, 0, time_of(0));
  budget.observe(1, 512, time_of(512));
  EXPECT_EQ(budget.prompt_rows(1), 16);
  EXPECT_EQ(budget.prompt_rows(508), 4) << "what the step has left";
}

TEST(StepBudgetTest, OneDelayedStepChangesLittle) {
  StepBudget budget({.step_rows = 512, .slowdown = 2.5});
  for (int i = 0; i < 10; ++i) budget.observe(1, 0, time_of(0));
  for (int i = 0; i < 20; ++i) budget.observe(1, budget.prompt_rows(1), time_of(budget.prompt_rows(1)));
  budget.observe(1, 0, microseconds(500'000));
  EXPECT_NEAR(budget.prompt_rows(1), 150, 2);
}

TEST(StepBudgetTest, APassHasTheRowsOfSeveralSlices) {
  StepBudget budget({.step_rows = 512, .least_prompt_rows = 1, .slowdown = 2.5});
  for (int i = 0; i < 10; ++i) budget.observe(1, 0, time_of(0));
  budget.observe_pass(100, microseconds(100'000));
  EXPECT_EQ(budget.slice(), std::chrono::milliseconds(15)) << "2.5 times 10 ms, less these";
  EXPECT_EQ(budget.pass_rows(28), 12 * 15) << "a millisecond each, in at most twelve slices";
  EXPECT_EQ(budget.pass_rows(4), 4 * 15) << "no slice is shorter than a layer";
  EXPECT_EQ(budget.prompt_rows(1), 15) << "what delays no reply needs no pass";
}

TEST(StepBudgetTest, APassFollowsTheDepth) {
  StepBudget budget({.step_rows = 512, .slowdown = 2.5});
  for (int i = 0; i < 10; ++i) budget.observe(1, 0, time_of(0));
  for (int i = 0; i < 20; ++i)
    budget.observe_pass(budget.pass_rows(28), microseconds(50'000) * budget.pass_rows(28));
  EXPECT_EQ(budget.pass_rows(28), 3);
  for (int i = 0; i < 20; ++i)
    budget.observe_pass(budget.pass_rows(28), microseconds(10) * budget.pass_rows(28));
  EXPECT_EQ(budget.pass_rows(28), 512);
}

TEST(StepBudgetTest, WhereNothingIsKnownAPassIsSmall) {
  StepBudget budget({.step_rows = 512});
  EXPECT_EQ(budget.slice().count(), 0);
  EXPECT_GT(budget.pass_rows(28), 0);
  EXPECT_LT(budget.pass_rows(28), 100);
}

}  // namespace
}  // namespace tempo9::engine
