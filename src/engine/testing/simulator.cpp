#include "engine/testing/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/limits.h"

namespace tempo9::engine::testing {
namespace {

constexpr int kPage = limits::kPageTokens;
constexpr Hash kNothing = 0x9e3779b97f4a7c15;
constexpr int kVocabulary = 50;

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), as a hash.
Hash mix(Hash h, TokenId token) {
  h += 0x9e3779b97f4a7c15 + static_cast<Hash>(token) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  return h ^ (h >> 31);
}

// hashes[i]: of the tokens before i.
std::vector<Hash> hashes_of(const std::vector<TokenId>& tokens) {
  std::vector<Hash> hashes{kNothing};
  for (const TokenId token : tokens) hashes.push_back(mix(hashes.back(), token));
  return hashes;
}

TokenId next_token(Hash h) {
  return static_cast<TokenId>(h % kVocabulary);
}

[[noreturn]] void nonsense(const std::string& what) {
  throw std::logic_error(what);
}

}  // namespace

class Simulator::Sink final : public EventSink {
 public:
  void on_event(Event) noexcept override {}
};

Status SimulatedMemory::allocate_slab(int group, int slab) {
  if (std::exchange(refuse_next_, false)) return fail(ErrorCode::kOutOfMemory, "no slab");
  auto [place, fresh] = slabs_.try_emplace({group, slab});
  if (!fresh) nonsense("a slab is allocated twice");
  const bool state = layout_.groups[static_cast<size_t>(group)].keeps == kv::Keeps::kState;
  place->second.assign(static_cast<size_t>(pages_per_slab_.at(group)), std::vector<Hash>(state ? 1 : kPage));
  for (auto& page : place->second)
    for (Hash& h : page) h = random_();
  return {};
}

void SimulatedMemory::release_slab(int group, int slab) {
  if (slabs_.erase({group, slab}) != 1) nonsense("a slab is released that is not there");
}

std::vector<Hash>& SimulatedMemory::page(int group, kv::PageId page) {
  if (page == kv::kNoPage) nonsense("a page is read or written that the sequence does not have");
  const auto slab = slabs_.find({group, page / pages_per_slab_.at(group)});
  if (slab == slabs_.end()) nonsense("a page of a released slab is used");
  return slab->second[static_cast<size_t>(page % pages_per_slab_.at(group))];
}

Simulator::Simulator(const SimulatorOptions& options)
    : options_(options), random_(options.seed), memory_(options_.layout, options.seed + 1) {
  kv_ = std::make_unique<kv::KvCache>(options_.layout,
                                      kv::CacheOptions{.memory_bytes = options.memory_bytes,
                                                       .slab_bytes = options.slab_bytes,
                                                       .step_tokens = options.scheduler.budget.step_rows},
                                      memory_);
  for (int g = 0; g < kv_->groups(); ++g) memory_.set_pages_per_slab(g, kv_->pages_per_slab(g));
  scheduler_ = std::make_unique<Scheduler>(*kv_, options.scheduler);
}

void Simulator::wrong(const std::string& what) const {
  throw std::logic_error(fmt::format("seed {}, step {}: {}", options_.seed, totals_.steps, what));
}

std::vector<TokenId> Simulator::reply_to(std::vector<TokenId> prompt, int max_new) {
  const size_t before = prompt.size();
  Hash h = hashes_of(prompt).back();
  for (int i = 0; i < max_new; ++i) {
    prompt.push_back(next_token(h));
    h = mix(h, prompt.back());
  }
  return {prompt.begin() + static_cast<ptrdiff_t>(before), prompt.end()};
}

RequestId Simulator::add(std::vector<TokenId> prompt, int max_new) {
  Request request;
  request.prompt = std::move(prompt);
  request.max_new_tokens = max_new;
  const auto most = static_cast<int>(kv_->max_tokens());
  totals_.prompt_tokens += static_cast<int64_t>(request.prompt.size());
  scheduler_->add(
      std::make_unique<RequestState>(++last_id_, std::move(request), std::make_shared<Sink>(), most));
  return last_id_;
}

// A new conversation, the next turn of one, or one that turns off somewhere in the middle.
void Simulator::arrive() {
  std::vector<TokenId> prompt;
  if (!conversations_.empty() && random_() % 4 != 0)
    prompt = conversations_[random_() % conversations_.size()];
  if (!prompt.empty() && random_() % 3 == 0) prompt.resize(random_() % prompt.size());
  if (static_cast<int>(prompt.size()) > options_.longest_prompt) prompt.clear();
  const auto more = 1 + random_() % static_cast<unsigned>(options_.longest_prompt / 2);
  for (unsigned i = 0; i < more; ++i) prompt.push_back(static_cast<TokenId>(random_() % kVocabulary));
  if (static_cast<int64_t>(prompt.size()) + 1 >= kv_->max_tokens()) return;
  const int copies = random_() % 8 == 0 ? 4 : 1;
  for (int i = 0; i < copies; ++i)
    add(prompt, 1 + static_cast<int>(random_() % static_cast<unsigned>(options_.longest_reply)));
}

void Simulator::cancel_one() {
  if (auto request = scheduler_->remove(1 + random_() % last_id_)) ++totals_.cancelled;
}

void Simulator::compute_row(const BoundPart& part, const std::vector<Hash>& hashes, int position) {
  const Hash before = hashes[static_cast<size_t>(position)];
  const Hash after = mix(before, part.tokens[static_cast<size_t>(position)]);
  for (int g = 0; g < kv_->groups(); ++g) {
    const kv::Group& group = options_.layout.groups[static_cast<size_t>(g)];
    const auto& table = part.pages.tables[static_cast<size_t>(g)];
    if (group.keeps == kv::Keeps::kState) {
      Hash& state = memory_.page(g, table.at(0)).at(0);
      if (position > 0 && state != before) wrong(fmt::format("a state is not that of {} tokens", position));
      state = after;
      continue;
    }
    const int first = group.keeps == kv::Keeps::kWindow ? std::max(0, position - group.window + 1) : 0;
    for (int p = first; p < position; ++p)
      if (memory_.page(g, table.at(static_cast<size_t>(p / kPage)))[static_cast<size_t>(p % kPage)] !=
          hashes[static_cast<size_t>(p) + 1])
        wrong(fmt::format("position {} reads something else at {} in group {}", position, p, g));
    memory_.page(g, table.at(static_cast<size_t>(position / kPage)))[static_cast<size_t>(position % kPage)] =
        after;
  }
}

// Does the plan's copies, as a device does in front of everything else.
Simulator::BoundPlan Simulator::bind(const StepPlan& plan) {
  if (plan.rows > options_.scheduler.budget.step_rows) wrong("a step has too many rows");
  for (const kv::PageCopy& copy : plan.copies) memory_.copy(copy);
  BoundPlan bound;
  bound.saves = plan.saves;
  for (const StepPart& part : plan.parts) {
    const RequestState& request = *scheduler_->running().at(static_cast<size_t>(part.owner));
    if (part.first_position != request.computed) wrong("rows are skipped or computed twice");
    if (part.tokens.data() != request.tokens.data() + request.computed) wrong("a part has others' tokens");
    bound.parts.push_back(
        {request.tokens, part.first_position, static_cast<int>(part.tokens.size()), *part.sequence});
  }
  return bound;
}

void Simulator::compute(const BoundPlan& plan) {
  size_t save = 0;
  for (size_t p = 0; p < plan.parts.size(); ++p) {
    const BoundPart& part = plan.parts[p];
    const std::vector<Hash> hashes = hashes_of(part.tokens);
    for (int position = part.first; position < part.first + part.rows; ++position) {
      compute_row(part, hashes, position);
      for (; save < plan.saves.size() && plan.saves[save].part == static_cast<int>(p) &&
             plan.saves[save].position == position + 1;
           ++save)
        for (int g = 0; g < kv_->groups(); ++g)
          if (options_.layout.groups[static_cast<size_t>(g)].keeps == kv::Keeps::kState)
            memory_.page(g, plan.saves[save].slot)[0] = hashes[static_cast<size_t>(position) + 1];
    }
  }
  if (save != plan.saves.size()) wrong("a state is to be saved where no row ends");
}

void Simulator::settle(const StepPlan& plan) {
  std::vector<RequestId> ended;
  for (const StepPart& part : plan.parts) {
    if (part.logits == Logits::kNone || part.owner < 0) continue;
    RequestState& request = *scheduler_->running()[static_cast<size_t>(part.owner)];
    request.tokens.push_back(next_token(hashes_of(request.tokens).back()));
    if (request.known() >= request.limit) ended.push_back(request.id);
  }
  for (const RequestId id : ended) finish(scheduler_->remove(id));
}

void Simulator::finish(std::unique_ptr<RequestState> request) {
  ++totals_.finished;
  totals_.cached_tokens += request->usage.cached_tokens;
  const std::vector<TokenId> prompt(request->tokens.begin(),
                                    request->tokens.begin() + request->prompt_tokens);
  const auto expected = reply_to(prompt, request->limit - request->prompt_tokens);
  if (!std::equal(expected.begin(), expected.end(), request->tokens.begin() + request->prompt_tokens))
    wrong("a reply is not what its prompt leads to");
  if (conversations_.size() < 20)
    conversations_.push_back(std::move(request->tokens));
  else
    conversations_[random_() % conversations_.size()] = std::move(request->tokens);
}

// What the cache counts is what the requests hold.
void Simulator::check_counts() const {
  std::set<std::pair<int, kv::PageId>> held;
  for (const auto& request : scheduler_->running())
    for (int g = 0; g < kv_->groups(); ++g)
      for (const kv::PageId page : request->pages.tables[static_cast<size_t>(g)])
        if (page != kv::kNoPage) held.insert({g, page});
  for (const BoundPart& part : pass_.parts)
    for (int g = 0; g < kv_->groups(); ++g)
      for (const kv::PageId page : part.pages.tables[static_cast<size_t>(g)])
        if (page != kv::kNoPage) held.insert({g, page});
  for (const StateSave& save : pass_.saves)
    for (int g = 0; g < kv_->groups(); ++g)
      if (options_.layout.groups[static_cast<size_t>(g)].keeps == kv::Keeps::kState)
        held.insert({g, save.slot});
  for (const kv::PageCopy& copy : kv_->copies()) held.insert({copy.group, copy.from});
  const kv::CacheCounts counts = kv_->counts();
  if (counts.pages_used != static_cast<int>(held.size()))
    wrong(fmt::format("{} pages are in use, {} are counted", held.size(), counts.pages_used));
  if (counts.bytes_used + counts.bytes_cached + counts.bytes_free > options_.memory_bytes)
    wrong("more memory than allowed");
}

void Simulator::step() {
  if (std::bernoulli_distribution(options_.failing_slabs)(random_)) memory_.refuse_next();
  const StepPlan& plan = scheduler_->plan();
  for (const RequestId id : scheduler_->hopeless()) {
    scheduler_->remove(id);
    ++totals_.failed;
  }
  if (!plan.parts.empty()) compute_step(plan);
  advance_pass();
  check_counts();
}

void Simulator::compute_step(const StepPlan& plan) {
  // Requests come while the step runs, too.
  if (!draining_ && std::bernoulli_distribution(options_.arrivals)(random_)) {
    arrive();
    scheduler_->admit();
  }
  ++totals_.steps;
  totals_.rows += plan.rows;
  if (std::bernoulli_distribution(options_.failing_steps)(random_)) {
    scheduler_->failed();
    pass_ = {};
    totals_.failed += static_cast<int64_t>(scheduler_->remove_all().size());
    return;
  }
  compute(bind(plan));
  scheduler_->completed(std::chrono::microseconds(1000 + 50 * plan.rows));
  settle(plan);
}

// As the engine does behind each step.
void Simulator::advance_pass() {
  if (!scheduler_->pass_runs()) {
    const StepPlan& plan = scheduler_->plan_pass();
    if (!plan.parts.empty()) pass_ = bind(plan);
    return;
  }
  if (!std::bernoulli_distribution(options_.ending_passes)(random_)) return;
  compute(std::exchange(pass_, {}));
  const StepPlan& plan = scheduler_->pass_completed(std::chrono::milliseconds(20));
  ++totals_.passes;
  totals_.rows += plan.rows;
  settle(plan);
}

void Simulator::run(int steps) {
  draining_ = false;
  for (int i = 0; i < steps; ++i) {
    if (std::bernoulli_distribution(options_.arrivals)(random_)) arrive();
    if (last_id_ > 0 && std::bernoulli_distribution(options_.cancellations)(random_)) cancel_one();
    step();
  }
  draining_ = true;
  for (int i = 0; !scheduler_->idle(); ++i) {
    if (i > 1'000'000) wrong("requests do not come to an end");
    step();
  }
  if (kv_->counts().pages_used != 0) wrong("pages are lost");
}

}  // namespace tempo9::engine::testing
