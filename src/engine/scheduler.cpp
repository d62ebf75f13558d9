#include "engine/scheduler.h"

#include <algorithm>

#include "base/limits.h"

namespace tempo9::engine {

RequestState::RequestState(RequestId number, Request r, std::shared_ptr<EventSink> s, int most_tokens)
    : id(number),
      sink(std::move(s)),
      sampler(std::move(r.sampling), r.prompt),
      tokens(std::move(r.prompt)),
      prompt_tokens(known()),
      limit(r.max_new_tokens == 0 ? most_tokens
                                  : static_cast<int>(std::min<int64_t>(
                                        most_tokens, int64_t{prompt_tokens} + r.max_new_tokens))),
      submitted(std::chrono::steady_clock::now()) {
  usage.prompt_tokens = prompt_tokens;
}

void Scheduler::add(std::unique_ptr<RequestState> request) {
  request->pages = kv_.empty_sequence();
  waiting_.push_back(std::move(request));
}

void Scheduler::admit() {
  while (!waiting_.empty() && static_cast<int>(running_.size()) < options_.max_running) {
    RequestState& next = *waiting_.front();
    const int wanted = std::min(next.known() + 1, next.limit);
    if (!kv_.has_room(next.pages, wanted)) return;
    if (next.started == std::chrono::steady_clock::time_point{})
      next.started = std::chrono::steady_clock::now();
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

// Grows the request's pages, taking them from younger requests if need be. False: the request itself had to
// give way.
bool Scheduler::make_room(RequestState& request, int tokens) {
  while (!kv_.grow(request.pages, tokens)) {
    RequestState* youngest = running_.back().get();
    kv_.release(youngest->pages);
    youngest->computed = 0;
    waiting_.push_front(std::move(running_.back()));
    running_.pop_back();
    if (youngest == &request) return false;
  }
  return true;
}

void Scheduler::plan_rows(int& budget, bool continuing) {
  for (size_t i = 0; i < running_.size() && budget > 0; ++i) {
    RequestState& request = *running_[i];
    const int missing = request.known() - request.computed;
    if ((missing == 1) != continuing) continue;
    const int rows = std::min(missing, budget);
    if (!make_room(request, request.computed + rows)) continue;
    const std::span<const TokenId> tokens(request.tokens.data() + request.computed,
                                          static_cast<size_t>(rows));
    plan_.add({tokens, request.computed, &request.pages, rows == missing ? Logits::kLast : Logits::kNone,
               static_cast<int>(i)});
    budget -= rows;
  }
}

const StepPlan& Scheduler::plan() {
  admit();
  plan_.clear();
  int budget = options_.step_rows;
  plan_rows(budget, true);
  plan_rows(budget, false);
  // A request planned early may have given way to an older one later: its rows are gone with its pages.
  StepPlan kept;
  for (const StepPart& part : plan_.parts)
    if (part.owner < static_cast<int>(running_.size())) kept.add(part);
  plan_ = std::move(kept);
  return plan_;
}

std::unique_ptr<RequestState> Scheduler::remove(RequestId id) {
  const auto is_it = [id](const std::unique_ptr<RequestState>& r) { return r->id == id; };
  std::unique_ptr<RequestState> found;
  if (auto it = std::find_if(running_.begin(), running_.end(), is_it); it != running_.end()) {
    found = std::move(*it);
    running_.erase(it);
  } else if (auto w = std::find_if(waiting_.begin(), waiting_.end(), is_it); w != waiting_.end()) {
    found = std::move(*w);
    waiting_.erase(w);
  }
  if (found != nullptr) kv_.release(found->pages);
  return found;
}

std::vector<std::unique_ptr<RequestState>> Scheduler::remove_all() {
  std::vector<std::unique_ptr<RequestState>> all;
  for (auto& r : running_) all.push_back(std::move(r));
  for (auto& r : waiting_) all.push_back(std::move(r));
  running_.clear(), waiting_.clear();
  for (auto& r : all) kv_.release(r->pages);
  return all;
}

}  // namespace tempo9::engine
