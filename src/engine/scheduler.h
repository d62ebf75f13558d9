// Which rows the next step computes. A request is three lengths: computed <= known <= limit. Pure bookkeeping
// over KV pages; no device. Policy: running requests in the order they were admitted. Rows that continue a
// reply go first, the rest of the step's budget goes to prompts in order. A request is admitted when the
// pages for its prompt and one token more are free. When pages run out, the youngest running request gives
// its pages back and waits at the head of the queue; its tokens stay known and are computed again. Threads:
// one at a time (the engine's).
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/step_plan.h"
#include "kv/kv_cache.h"

namespace tempo9::engine {

struct RequestState {
  RequestState(RequestId number, Request r, std::shared_ptr<EventSink> s, int most_tokens);

  RequestId id;
  std::shared_ptr<EventSink> sink;
  sample::Sampler sampler;
  std::vector<TokenId> tokens;  // known: the prompt, then the reply
  int prompt_tokens;
  int computed = 0;  // tokens whose keys and values are in pages
  int limit;         // tokens at most
  kv::Sequence pages;
  Usage usage;
  std::chrono::steady_clock::time_point submitted, started, first_token;

  int known() const { return static_cast<int>(tokens.size()); }
};

struct SchedulerOptions {
  int step_rows = 512;
  int max_running = 64;
};

class Scheduler {
 public:
  Scheduler(kv::KvCache& kv, const SchedulerOptions& options) : kv_(kv), options_(options) {}

  void add(std::unique_ptr<RequestState> request);
  // The next step; empty if there is nothing to compute. StepPart::owner indexes running().
  const StepPlan& plan();
  // Takes a request out, its pages given back; null if it is not here.
  std::unique_ptr<RequestState> remove(RequestId id);
  std::vector<std::unique_ptr<RequestState>> remove_all();

  std::vector<std::unique_ptr<RequestState>>& running() { return running_; }
  int waiting_count() const { return static_cast<int>(waiting_.size()); }
  bool idle() const { return waiting_.empty() && running_.empty(); }

 private:
  void admit();
  bool make_room(RequestState& request, int tokens);
  void plan_rows(int& budget, bool continuing);

  kv::KvCache& kv_;
  SchedulerOptions options_;
  std::deque<std::unique_ptr<RequestState>> waiting_;
  std::vector<std::unique_ptr<RequestState>> running_;  // oldest first
  StepPlan plan_;
};

}  // namespace tempo9::engine
