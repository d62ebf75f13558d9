#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace tempo9::engine {
namespace {

// Snapshots of a prompt on its way, so that a later one that ends or branches inside finds one near.
constexpr int kSnapshotGrid = 2048, kMostGridPoints = 8;
// Part of a step's prompt rows that the request that came first may always have.
constexpr int kShareOfFirst = 4;

int common_tokens(const RequestState& a, const RequestState& b) {
  const auto n = static_cast<ptrdiff_t>(std::min(a.tokens.size(), b.tokens.size()));
  return static_cast<int>(std::mismatch(a.tokens.begin(), a.tokens.begin() + n, b.tokens.begin()).first -
                          a.tokens.begin());
}

}  // namespace

void Scheduler::add(RequestPtr request) {
  request->pages = kv_.empty_sequence();
  waiting_.push_back(std::move(request));
}

// Whether a running request is about to compute tokens that this one needs and that are not cached yet.
bool Scheduler::follows_another(RequestState& request) {
  if (request.embeds()) return false;  // computes everything itself
  const auto leads = [&](const RequestPtr& r) { return r->id == request.leader; };
  if (const auto leader = std::find_if(running_.begin(), running_.end(), leads); leader != running_.end())
    return (*leader)->computed < request.shared;
  request.leader = 0;
  int cached = -1;
  for (const RequestPtr& other : running_) {
    if (other->missing() < limits::kPageTokens) continue;
    const int shared = std::min(common_tokens(*other, request), request.known() - 1);
    if (shared - other->computed < limits::kPageTokens) continue;
    if (cached < 0) cached = kv_.agreement(request.tokens);
    if (shared - cached < limits::kPageTokens) continue;
    request.leader = other->id;
    request.shared = shared;
    other->add_save_point(shared);
    return true;
  }
  return false;
}

bool Scheduler::fits(const RequestState& request) const {
  if (running_.empty()) return true;  // or never
  size_t needed = kv_.bytes_missing(request.pages, std::min(request.known() + 1, request.limit));
  for (const RequestPtr& other : running_)
    needed += kv_.bytes_missing(other->pages, std::min(other->known() + 1, other->limit));
  return needed <= kv_.bytes_available();
}

void Scheduler::admit() {
  for (size_t i = 0; i < waiting_.size() && static_cast<int>(running_.size()) < options_.max_running;) {
    if (follows_another(*waiting_[i])) {
      ++i;
      continue;
    }
    if (!fits(*waiting_[i])) return;
    RequestPtr request = std::move(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
    start(std::move(request));
  }
}

void Scheduler::start(RequestPtr request) {
  const kv::KvCache::Found found =
      kv_.attach(request->pages, request->tokens, request->embeds() ? 0 : request->known() - 1);
  request->computed = found.tokens;
  if (!request->admitted_before) request->usage.cached_tokens = found.tokens;
  request->admitted_before = true;
  if (request->started == std::chrono::steady_clock::time_point{})
    request->started = std::chrono::steady_clock::now();
  // Where this prompt leaves what is cached, others will too.
  request->add_save_point(found.agreement);
  const int grid = std::max(kSnapshotGrid, request->prompt_tokens / kMostGridPoints);
  for (int p = grid; p < request->prompt_tokens; p += grid) request->add_save_point(p);
  request->add_save_point(request->prompt_tokens - 1);
  running_.push_back(std::move(request));
}

// Back to the queue's head. What it has computed is cached, so that it costs nothing if there is room again.
void Scheduler::give_way(RequestPtr request) {
  ++preemptions_;
  retire(*request);
  waiting_.push_front(std::move(request));
}

void Scheduler::retire(RequestState& request) {
  if (const auto at = std::find(pass_owners_.begin(), pass_owners_.end(), &request);
      at != pass_owners_.end()) {
    *at = nullptr;
    orphans_.push_back(std::exchange(request.pages, kv_.empty_sequence()));
    request.computed = 0;
    return;
  }
  kv_.retire(request.pages, request.tokens, request.computed);
  request.computed = 0;
}

// Grows the request's pages, taking them from younger requests if need be. False: the request itself had to
// give way, or does not fit at all.
bool Scheduler::make_room(RequestState& request, int tokens) {
  for (;;) {
    if (kv_.grow(request.pages, tokens)) return true;
    if (pass_runs()) return false;
    const bool alone = running_.size() == 1, itself = running_.back().get() == &request;
    RequestPtr youngest = std::move(running_.back());
    running_.pop_back();
    if (!alone) {
      give_way(std::move(youngest));
    } else {
      // Its own pages may be scattered over slabs that others have left: once more, from an empty cache.
      kv_.release(request.pages);
      kv_.drop_cached();
      if (request.computed == 0 || request.restarted) hopeless_.push_back(request.id);
      request.computed = 0;
      request.restarted = true;
      waiting_.push_front(std::move(youngest));
    }
    if (itself) return false;
  }
}

int Scheduler::index_of(const RequestState* request) const {
  const auto at = std::find_if(running_.begin(), running_.end(),
                               [request](const RequestPtr& r) { return r.get() == request; });
  return at == running_.end() ? -1 : static_cast<int>(at - running_.begin());
}

void Scheduler::plan_rows(StepPlan& plan, RequestState& request, int rows) {
  if (!make_room(request, request.computed + rows)) return;
  const auto part = static_cast<int>(plan.parts.size());
  plan.add({{request.tokens.data() + request.computed, static_cast<size_t>(rows)},
            request.computed,
            &request.pages,
            rows == request.missing() && !request.embeds() ? Logits::kLast : Logits::kNone,
            index_of(&request),
            request.embeds()});
  for (const int point : request.save_points) {
    if (!kv_.has_states()) break;
    if (point <= request.computed || point > request.computed + rows) continue;
    const kv::PageId slot = kv_.reserve_snapshot();
    if (slot != kv::kNoPage) plan.saves.push_back({part, point, slot});
  }
}

void Scheduler::plan_replies() {
  for (size_t i = 0; i < running_.size() && plan_.rows < options_.budget.step_rows; ++i)
    if (running_[i]->continues()) plan_rows(plan_, *running_[i], 1);
}

int Scheduler::missing_prompt_rows() const {
  int rows = 0;
  for (const RequestPtr& r : running_)
    if (!r->continues()) rows += r->missing();
  return rows;
}

void Scheduler::plan_prompts(StepPlan& plan, int left) {
  std::vector<RequestState*> prompts;
  for (const RequestPtr& r : running_)
    if (!r->continues()) prompts.push_back(r.get());
  if (prompts.empty()) return;
  const RequestState* first = prompts.front();
  std::stable_sort(prompts.begin(), prompts.end(),
                   [](const RequestState* a, const RequestState* b) { return a->missing() < b->missing(); });
  int kept = std::min(first->missing(), left / kShareOfFirst);
  for (RequestState* request : prompts) {
    if (request == first) kept = 0;
    const int rows = std::min(request->missing(), left - kept);
    if (rows <= 0) continue;
    // It may have given way to an earlier one of this step.
    if (index_of(request) < 0) continue;
    plan_rows(plan, *request, rows);
    left -= rows;
  }
}

// A request planned early may have given way to an older one later: its rows are gone with its pages.
void Scheduler::drop_preempted_parts(StepPlan& plan) {
  StepPlan kept;
  for (int p = 0; p < static_cast<int>(plan.parts.size()); ++p) {
    const StepPart& part = plan.parts[static_cast<size_t>(p)];
    const bool here = part.owner < static_cast<int>(running_.size());
    for (const StateSave& save : plan.saves) {
      if (save.part != p) continue;
      if (here)
        kept.saves.push_back({static_cast<int>(kept.parts.size()), save.position, save.slot});
      else
        kv_.release_snapshot(save.slot);
    }
    if (here) kept.add(part);
  }
  plan = std::move(kept);
}

const StepPlan& Scheduler::plan() {
  hopeless_.clear();
  admit();
  plan_.clear();
  plan_replies();
  reply_rows_ = plan_.rows;
  const int rows = budget_.prompt_rows(reply_rows_);
  const bool delays = options_.pass_layers > 0 && reply_rows_ > 0 && missing_prompt_rows() > rows;
  if (!pass_runs() && !delays) plan_prompts(plan_, rows);
  drop_preempted_parts(plan_);
  plan_.copies = kv_.copies();
  reply_rows_ = std::min(reply_rows_, plan_.rows);
  prompt_rows_ = plan_.rows - reply_rows_;
  return plan_;
}

const StepPlan& Scheduler::plan_pass() {
  if (pass_runs() || options_.pass_layers == 0 || reply_rows_ == 0 || prompt_rows_ > 0) return no_pass_;
  pass_.clear();
  plan_prompts(pass_, budget_.pass_rows(options_.pass_layers));
  drop_preempted_parts(pass_);
  if (pass_.parts.empty()) return no_pass_;
  pass_.copies = kv_.copies();
  kv_.copied(pass_.copies.size());  // in front of all that follows
  for (const StepPart& part : pass_.parts)
    pass_owners_.push_back(running_[static_cast<size_t>(part.owner)].get());
  return pass_;
}

// What a plan computed is part of its requests, and may be found by others. Owners that have gone are -1.
void Scheduler::count_in(const StepPlan& plan) {
  size_t save = 0;
  for (size_t p = 0; p < plan.parts.size(); ++p) {
    const StepPart& part = plan.parts[p];
    if (part.owner < 0) {
      for (; save < plan.saves.size() && plan.saves[save].part == static_cast<int>(p); ++save)
        kv_.release_snapshot(plan.saves[save].slot);
      continue;
    }
    RequestState& request = *running_[static_cast<size_t>(part.owner)];
    request.computed += static_cast<int>(part.tokens.size());
    const bool wanted = std::any_of(request.save_points.begin(), request.save_points.end(), [&](int point) {
      return point > part.first_position && point <= request.computed;
    });
    kv_.publish(request.pages, request.tokens, request.computed, wanted);
    for (; save < plan.saves.size() && plan.saves[save].part == static_cast<int>(p); ++save)
      kv_.publish_snapshot(request.pages, request.tokens, plan.saves[save].position, plan.saves[save].slot);
    kv_.trim(request.pages, request.computed);
  }
}

void Scheduler::completed(std::chrono::nanoseconds time) {
  kv_.copied(plan_.copies.size());
  budget_.observe(reply_rows_, prompt_rows_, time);
  count_in(plan_);
  plan_.copies.clear(), plan_.saves.clear();
}

const StepPlan& Scheduler::pass_completed(std::chrono::nanoseconds time) {
  budget_.observe_pass(pass_.rows, time);
  for (size_t p = 0; p < pass_.parts.size(); ++p) pass_.parts[p].owner = index_of(pass_owners_[p]);
  count_in(pass_);
  end_pass();
  return pass_;
}

void Scheduler::end_pass() {
  for (kv::Sequence& pages : orphans_) kv_.release(pages);
  orphans_.clear();
  pass_owners_.clear();
}

void Scheduler::failed() {
  kv_.copied(plan_.copies.size());
  for (const StateSave& save : plan_.saves) kv_.release_snapshot(save.slot);
  if (pass_runs())
    for (const StateSave& save : pass_.saves) kv_.release_snapshot(save.slot);
  end_pass();
  for (RequestPtr& request : running_) {
    kv_.release(request->pages);
    request->computed = 0;
  }
  kv_.drop_cached();
}

Scheduler::RequestPtr Scheduler::remove(RequestId id) {
  const auto is_it = [id](const RequestPtr& r) { return r->id == id; };
  RequestPtr found;
  if (auto it = std::find_if(running_.begin(), running_.end(), is_it); it != running_.end()) {
    found = std::move(*it);
    running_.erase(it);
    retire(*found);
  } else if (auto w = std::find_if(waiting_.begin(), waiting_.end(), is_it); w != waiting_.end()) {
    found = std::move(*w);
    waiting_.erase(w);
  }
  return found;
}

std::vector<Scheduler::RequestPtr> Scheduler::remove_all() {
  std::vector<RequestPtr> all;
  for (auto& r : running_) retire(*r), all.push_back(std::move(r));
  for (auto& r : waiting_) all.push_back(std::move(r));
  running_.clear(), waiting_.clear();
  return all;
}

}  // namespace tempo9::engine
