#include "engine/local_engine.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"

namespace tempo9::engine {

using Clock = std::chrono::steady_clock;

namespace {
constexpr float kNeverBias = -100;
constexpr int kStepRow = 0;  // of the trace; those of requests follow
}  // namespace

LocalEngine::LocalEngine(LoadedModel model, const EngineOptions& options, const SchedulerOptions& scheduling,
                         std::unique_ptr<Trace> trace)
    : model_(std::move(model)),
      compiler_(*model_.tokenizer),
      scheduler_(model_.runner->kv(), scheduling),
      observe_logits_(options.observe_logits),
      trace_(std::move(trace)) {
  for (TokenId token = 0; token < model_.info.vocabulary_size; ++token)
    if (model_.tokenizer->ends_generation(token)) never_end_.emplace_back(token, kNeverBias);
  publish_stats();
  thread_ = std::thread([this] { work(); });
}

LocalEngine::~LocalEngine() {
  {
    const std::lock_guard lock(mutex_);
    draining_ = cancel_all_ = stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<std::vector<TokenId>> LocalEngine::prepare(std::string_view text,
                                                  const text::SpecialTokens& special) const {
  return encode_prompt(*model_.tokenizer, text, special);
}

Status LocalEngine::check(const Request& request) const {
  if (request.prompt.empty()) return fail(ErrorCode::kInvalidArgument, "the prompt is empty");
  for (const TokenId token : request.prompt)
    if (token < 0 || token >= model_.info.vocabulary_size)
      return fail(ErrorCode::kInvalidArgument, "prompt: {} is not a token id", token);
  if (request.max_new_tokens < 0) return fail(ErrorCode::kInvalidArgument, "max_new_tokens is negative");
  if (static_cast<int64_t>(request.prompt.size()) >= model_.info.context_length)
    return fail(ErrorCode::kTooLong, "the prompt has {} tokens; with a context of {} it may have at most {}",
                request.prompt.size(), model_.info.context_length, model_.info.context_length - 1);
  return sample::check(request.sampling, model_.info.vocabulary_size);
}

Result<RequestId> LocalEngine::submit(Request request, std::shared_ptr<EventSink> sink) {
  TRY(check(request));
  if (request.ignore_end) {
    auto& biases = request.sampling.logit_bias;
    biases.insert(biases.end(), never_end_.begin(), never_end_.end());
  }
  const bool embed = request.embed;
  std::optional<grammar::Matcher> matcher;
  if (request.grammar != nullptr) {
    TRY_ASSIGN(matcher, grammar::Matcher::make(std::move(request.grammar)));
  }
  auto state =
      std::make_unique<RequestState>(0, std::move(request), std::move(sink), model_.info.context_length);
  state->matcher = std::move(matcher);
  if (embed) state->pooler.emplace(model_.info.embedding.pooling);
  RequestId id = 0;
  {
    const std::lock_guard lock(mutex_);
    if (draining_) return fail(ErrorCode::kBusy, "the server is shutting down");
    if (static_cast<int>(submitted_.size()) + stats_.queued >= limits::kMaxQueuedRequests)
      return fail(ErrorCode::kBusy, "the queue is full: {} requests are waiting", limits::kMaxQueuedRequests);
    id = state->id = next_id_++;
    submitted_.push_back(std::move(state));
    quiet_ = false;
  }
  changed_.notify_all();
  return id;
}

void LocalEngine::compile(const grammar::Form& form, grammar::CompileDone done) {
  compiler_.compile(form, std::move(done));
}

void LocalEngine::cancel(RequestId id) {
  {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(id);
  }
  changed_.notify_all();
}

Stats LocalEngine::stats() const {
  const std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.queued += static_cast<int>(submitted_.size());
  return stats;
}

void LocalEngine::shut_down(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  if (!changed_.wait_until(lock, deadline, [this] { return quiet_; })) {
    cancel_all_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return quiet_; });
  }
}

// Steps of one row before the first request: memory is touched, and the scheduler knows what a step takes.
void LocalEngine::warm_up() {
  constexpr int kSteps = 3;
  Request request;
  request.prompt = {0};
  request.max_new_tokens = kSteps;
  scheduler_.add(std::make_unique<RequestState>(0, std::move(request), nullptr, kSteps + 1));
  for (int i = 0; i < kSteps; ++i) {
    const StepPlan& plan = scheduler_.plan();
    if (plan.parts.empty()) break;
    const auto begin = Clock::now();
    if (!model_.runner->run(plan)) {
      scheduler_.failed();
      break;
    }
    scheduler_.completed(Clock::now() - begin);
    scheduler_.running().front()->tokens.push_back(0);
  }
  scheduler_.remove_all();
  model_.runner->kv().drop_cached();
}

void LocalEngine::work() {
  warm_up();
  while (take_commands()) run_step();
}

// Waits until there is something to do, then takes what others have sent. False: the engine ends.
bool LocalEngine::take_commands() {
  publish_stats();
  std::vector<std::unique_ptr<RequestState>> submitted;
  std::vector<RequestId> cancelled;
  bool cancel_all = false, stopping = false;
  {
    std::unique_lock lock(mutex_);
    if (scheduler_.idle() && submitted_.empty() && !quiet_) {
      quiet_ = true;
      changed_.notify_all();
    }
    changed_.wait(lock, [this] {
      return !scheduler_.idle() || !submitted_.empty() || !cancelled_.empty() || stopping_;
    });
    submitted.swap(submitted_);
    cancelled.swap(cancelled_);
    cancel_all = cancel_all_, stopping = stopping_;
  }
  for (auto& request : submitted) scheduler_.add(std::move(request));
  for (const RequestId id : cancelled)
    if (auto request = scheduler_.remove(id)) finish(std::move(request), FinishReason::kCancelled);
  if (cancel_all)
    for (auto& request : scheduler_.remove_all()) finish(std::move(request), FinishReason::kCancelled);
  publish_stats();
  return !stopping;
}

void LocalEngine::run_step() {
  const StepPlan& plan = scheduler_.plan();
  for (const RequestId id : scheduler_.hopeless())
    finish(scheduler_.remove(id), FinishReason::kError,
           {ErrorCode::kOutOfMemory, "the KV memory does not hold this request"});
  if (!plan.parts.empty()) {
    if (const Status computed = compute(plan); !computed) return fail_all(computed.error());
  }
  if (const Status advanced = advance_pass(); !advanced) fail_all(advanced.error());
}

Status LocalEngine::compute(const StepPlan& plan) {
  const auto begin = Clock::now();
  model_.runner->submit(plan);
  find_allowed(plan);
  work_ahead();
  TRY_ASSIGN(const std::span<float> logits, model_.runner->wait());
  std::span<float> hidden;
  if (plan.hidden_rows > 0) {
    TRY_ASSIGN(hidden, model_.runner->hidden());
  }
  const auto time = Clock::now() - begin;
  ++measured_.steps;
  measured_.tokens_computed += static_cast<uint64_t>(plan.rows);
  measured_.step_seconds.observe(std::chrono::duration<double>(time).count());
  measured_.step_rows.observe(plan.rows);
  if (trace_ != nullptr) trace_step("step", plan, begin);
  scheduler_.completed(time);
  settle(plan, logits, hidden);
  return {};
}

// Gives prompts their time between two steps of replies. A pass that has come to its end is settled like a
// step.
Status LocalEngine::advance_pass() {
  const auto begin = Clock::now();
  if (!scheduler_.pass_runs()) {
    const StepPlan& plan = scheduler_.plan_pass();
    if (plan.parts.empty()) return {};
    TRY(model_.runner->begin_pass(plan));
    find_allowed(plan);
    pass_time_ = {};
  }
  TRY_ASSIGN(const bool ended, model_.runner->advance_pass(begin + scheduler_.slice()));
  if (!ended) {
    pass_time_ += Clock::now() - begin;
    return {};
  }
  TRY_ASSIGN(const std::span<float> logits, model_.runner->end_pass());
  pass_time_ += Clock::now() - begin;
  const StepPlan& plan = scheduler_.pass_completed(pass_time_);
  std::span<float> hidden;
  if (plan.hidden_rows > 0) {
    TRY_ASSIGN(hidden, model_.runner->pass_hidden());
  }
  ++measured_.passes;
  measured_.tokens_computed += static_cast<uint64_t>(plan.rows);
  if (trace_ != nullptr) trace_step("pass", plan, begin);
  settle(plan, logits, hidden);
  return {};
}

// Tokens are chosen and texts pooled; requests that end with that leave.
void LocalEngine::settle(const StepPlan& plan, std::span<float> logits, std::span<const float> hidden) {
  ended_.clear();
  choose_tokens(plan, logits);
  pool(plan, hidden);
  for (const auto& [id, reason] : ended_) {
    auto request = scheduler_.remove(id);
    Error failure = std::move(request->failure);
    finish(std::move(request), reason, std::move(failure));
  }
}

// Which tokens the grammars allow after the rows that are being computed.
void LocalEngine::find_allowed(const StepPlan& plan) {
  for (const StepPart& part : plan.parts) {
    RequestState& request = *scheduler_.running()[static_cast<size_t>(part.owner)];
    if (!request.matcher || part.logits == Logits::kNone) continue;
    const auto allowed = request.matcher->allowed();
    request.allowed = allowed.value_or(grammar::TokenMask());
    if (!allowed) {
      request.failure = allowed.error();
    } else if (std::all_of(allowed->begin(), allowed->end(), [](uint32_t word) { return word == 0; })) {
      request.failure = {ErrorCode::kInternal,
                         "no token of the model's vocabulary continues the reply in its form"};
    }
  }
}

void LocalEngine::fail_all(const Error& error) {
  spdlog::error("a step failed on {}: {}", model_.runner->device().name(), error.message);
  scheduler_.failed();
  for (auto& request : scheduler_.remove_all()) finish(std::move(request), FinishReason::kError, error);
}

void LocalEngine::work_ahead() {
  std::vector<std::unique_ptr<RequestState>> submitted;
  {
    const std::lock_guard lock(mutex_);
    submitted.swap(submitted_);
    stats_.queued += static_cast<int>(submitted.size());
  }
  for (auto& request : submitted) scheduler_.add(std::move(request));
  scheduler_.admit();
}

void LocalEngine::trace_step(std::string_view name, const StepPlan& plan, Clock::time_point begin) {
  int prompts = 0;
  for (const StepPart& part : plan.parts) prompts += part.tokens.size() > 1 ? 1 : 0;
  trace_->span(
      kStepRow, name, begin, Clock::now(),
      {{"rows", plan.rows}, {"requests", static_cast<int>(plan.parts.size())}, {"prompts", prompts}});
}

void LocalEngine::trace_request(const RequestState& request) const {
  const auto now = Clock::now(), none = Clock::time_point{};
  const bool started = request.started != none, spoke = request.first_token != none;
  const auto row = static_cast<int>(kStepRow + request.id);
  trace_->name_row(row, fmt::format("request {}", request.id));
  trace_->span(row, "queued", request.submitted, started ? request.started : now);
  if (started)
    trace_->span(row, "prompt", request.started, spoke ? request.first_token : now,
                 {{"tokens", request.usage.prompt_tokens}, {"cached", request.usage.cached_tokens}});
  if (spoke)
    trace_->span(row, "reply", request.first_token, now, {{"tokens", request.usage.completion_tokens}});
}

void LocalEngine::choose_tokens(const StepPlan& plan, std::span<float> logits) {
  const auto vocabulary = static_cast<size_t>(model_.runner->vocabulary_size());
  size_t row = 0;
  for (const StepPart& part : plan.parts) {
    if (part.logits == Logits::kNone) continue;
    // Rows of the output matrix beyond the tokenizer's vocabulary are padding, never tokens.
    const auto values = logits.subspan(row++ * vocabulary, static_cast<size_t>(model_.info.vocabulary_size));
    if (part.owner < 0) continue;  // it has gone
    RequestState& request = *scheduler_.running()[static_cast<size_t>(part.owner)];
    if (const auto reason = choose(request, values)) ended_.emplace_back(request.id, *reason);
  }
}

// The rows of texts whose embedding is wanted; a text has come to its end when all of it is computed.
void LocalEngine::pool(const StepPlan& plan, std::span<const float> hidden) {
  const int columns = model_.runner->hidden_size();
  for (const StepPart& part : plan.parts) {
    if (!part.hidden) continue;
    const size_t values = part.tokens.size() * static_cast<size_t>(columns);
    const auto rows = hidden.first(values);
    hidden = hidden.subspan(values);
    if (part.owner < 0) continue;
    RequestState& request = *scheduler_.running()[static_cast<size_t>(part.owner)];
    request.pooler->add(rows, columns, part.first_position);
    if (request.missing() == 0) ended_.emplace_back(request.id, FinishReason::kEndToken);
  }
}

std::optional<FinishReason> LocalEngine::choose(RequestState& request, std::span<float> row) {
  if (!request.failure.message.empty()) return FinishReason::kError;
  const auto now = Clock::now();
  const bool first = request.usage.completion_tokens == 0;
  if (first) request.first_token = now;
  (first ? measured_.first_token_seconds : measured_.token_gap_seconds)
      .observe(std::chrono::duration<double>(now - (first ? request.submitted : request.last_token)).count());
  request.last_token = now;
  if (observe_logits_) observe_logits_(request.id, request.known(), row);
  sample::Choice choice =
      request.sampler.choose(row, static_cast<uint64_t>(request.known()), request.allowed);
  ++request.usage.completion_tokens;
  ++measured_.tokens_generated;
  if (model_.tokenizer->ends_generation(choice.token))
    return request.known() >= request.limit ? FinishReason::kLength : FinishReason::kEndToken;
  if (request.matcher) {
    if (const Status accepted = request.matcher->accept(choice.token); !accepted) {
      request.failure = accepted.error();
      return FinishReason::kError;
    }
  }
  request.sampler.accept(choice.token);
  request.tokens.push_back(choice.token);
  request.sink->on_event(TokenChosen{std::move(choice)});
  return request.known() >= request.limit ? std::optional(FinishReason::kLength) : std::nullopt;
}

void LocalEngine::finish(std::unique_ptr<RequestState> request, FinishReason reason, Error error) {
  CHECK(request != nullptr);
  const auto now = Clock::now();
  const bool started = request->started != Clock::time_point{}, spoke = request->usage.completion_tokens > 0;
  request->usage.queued = (started ? request->started : now) - request->submitted;
  if (started) request->usage.prompt_time = (spoke ? request->first_token : now) - request->started;
  if (spoke) request->usage.generation_time = now - request->first_token;
  if (trace_ != nullptr) trace_request(*request);
  ++measured_.requests_finished;
  if (started) {
    measured_.prompt_tokens += static_cast<uint64_t>(request->usage.prompt_tokens);
    measured_.cached_tokens += static_cast<uint64_t>(request->usage.cached_tokens);
  }
  Finished end{reason, request->usage, std::move(error), {}};
  if (request->embeds() && reason == FinishReason::kEndToken) end.embedding = request->pooler->finish();
  publish_stats();  // who hears of the end finds it counted
  request->sink->on_event(std::move(end));
}

void LocalEngine::publish_stats() {
  measured_.queued = scheduler_.waiting_count();
  measured_.running = static_cast<int>(scheduler_.running().size());
  measured_.preemptions = scheduler_.preemptions();
  measured_.kv = model_.runner->kv().counts();
  measured_.kv_limit_bytes = model_.runner->options().kv_memory_bytes;
  measured_.weight_bytes = model_.runner->weight_bytes();
  measured_.workspace_bytes = model_.runner->workspace_bytes();
  const std::lock_guard lock(mutex_);
  stats_ = measured_;
}

Result<std::unique_ptr<Engine>> load_engine(const EngineOptions& options, const Progress& progress) {
  SchedulerOptions scheduling;
  scheduling.budget.step_rows = options.step_tokens;
  scheduling.budget.longest_gap = options.max_token_gap;
  std::unique_ptr<Trace> trace;
  if (!options.trace_path.empty()) {
    TRY_ASSIGN(trace, Trace::create(options.trace_path));
  }
  TRY_ASSIGN(LoadedModel model, load_model_parts(options, scheduling.max_running, progress));
  if (model.runner->device().has_long_steps()) {
    scheduling.pass_layers = model.runner->layer_count();
    scheduling.budget.least_prompt_rows = 1;  // who needs more gets a pass
  }
  if (trace != nullptr) trace->name_row(kStepRow, model.runner->device().description());
  return std::make_unique<LocalEngine>(std::move(model), options, scheduling, std::move(trace));
}

}  // namespace tempo9::engine
