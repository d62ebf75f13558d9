// Which rows the next step computes. A request is three lengths: computed <= known <= limit. Pure bookkeeping
// over KV pages; no device, no clock.
//   Admission   by pages, in the order of arrival: when what is not in use holds the prompt and a token more,
//               beside what running requests still need. A request whose beginning another one is just
//               computing waits for that part instead of computing it again; those behind it need not wait.
//   Steps       rows that continue replies go first; a bounded number of prompt rows is shared by several
//               prompts, those with the least left first, a share kept for the one that came first.
//   Passes      where the device can, prompt rows that would delay the replies' step too long are computed by
//               themselves, in slices of a few layers between those steps. While a pass is on its way its
//               requests keep their pages and nobody gives way; who cannot grow waits for its end.
//   Exhaustion  when pages run out, the youngest running request gives way and waits at the head of the
//               queue. What it has computed stays cached as long as there is room.
// Threads: one at a time (the engine's).
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "engine/request_state.h"
#include "engine/step_budget.h"
#include "engine/step_plan.h"

namespace tempo9::engine {

struct SchedulerOptions {
  StepBudgetOptions budget;
  int max_running = 64;
  int pass_layers = 0;  // of the model, in any of which a pass may pause; 0: no passes
};

class Scheduler {
 public:
  using RequestPtr = std::unique_ptr<RequestState>;
  Scheduler(kv::KvCache& kv, const SchedulerOptions& options)
      : kv_(kv), options_(options), budget_(options.budget) {}

  void add(RequestPtr request);
  // Lets waiting requests in, as plan() does too. Also while the planned step runs: finding what is cached of
  // their prompts then costs no time between steps.
  void admit();
  // The next step; empty if there is nothing to compute. StepPart::owner indexes running(). To be followed by
  // completed() or failed(), before anything else.
  const StepPlan& plan();
  // The step was computed, in this time: lengths grow, pages become findable for others.
  void completed(std::chrono::nanoseconds time);
  // It was not, nor is the pass: nothing of them counts.
  void failed();

  // The next pass, after the planned step was settled; empty if one is on its way or nothing needs one.
  // Begins it, unless it is empty: pass_completed() or failed() ends it.
  const StepPlan& plan_pass();
  // Time for it until the next step; nobody waits for a step if there are no replies.
  std::chrono::nanoseconds slice() const { return budget_.slice(); }
  bool pass_runs() const { return !pass_owners_.empty(); }
  // It was computed, in this time. Returns its plan, StepPart::owner now being -1 for requests that have
  // gone.
  const StepPlan& pass_completed(std::chrono::nanoseconds time);

  // Takes a request out. What it has computed may be used by others. Null if it is not here.
  RequestPtr remove(RequestId id);
  std::vector<RequestPtr> remove_all();
  // Requests whose pages do not fit even alone; take them out before the next plan().
  const std::vector<RequestId>& hopeless() const { return hopeless_; }

  std::vector<RequestPtr>& running() { return running_; }
  int waiting_count() const { return static_cast<int>(waiting_.size()); }
  bool idle() const { return waiting_.empty() && running_.empty() && !pass_runs(); }
  uint64_t preemptions() const { return preemptions_; }

 private:
  bool follows_another(RequestState& request);
  bool fits(const RequestState& request) const;
  void start(RequestPtr request);
  void retire(RequestState& request);
  int index_of(const RequestState* request) const;
  int missing_prompt_rows() const;
  void plan_replies();
  void plan_prompts(StepPlan& plan, int rows);
  void plan_rows(StepPlan& plan, RequestState& request, int rows);
  void count_in(const StepPlan& plan);
  void end_pass();
  bool make_room(RequestState& request, int tokens);
  void give_way(RequestPtr request);
  void drop_preempted_parts(StepPlan& plan);

  kv::KvCache& kv_;
  SchedulerOptions options_;
  StepBudget budget_;
  std::deque<RequestPtr> waiting_;
  std::vector<RequestPtr> running_;  // oldest first
  std::vector<RequestId> hopeless_;
  StepPlan plan_;
  int reply_rows_ = 0, prompt_rows_ = 0;  // of plan_
  StepPlan pass_, no_pass_;
  std::vector<RequestState*> pass_owners_;  // of its parts; null: gone
  std::vector<kv::Sequence> orphans_;       // what those were computing into
  uint64_t preemptions_ = 0;
};

}  // namespace tempo9::engine
