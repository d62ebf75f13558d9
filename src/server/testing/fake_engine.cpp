#include "server/testing/fake_engine.h"

#include <algorithm>
#include <utility>

namespace tempo9::server::testing {

FakeEngine::FakeEngine()
    : tokenizer_({{"<|end|>", true, true},
                  {"<|system|>", true},
                  {"<|user|>", true},
                  {"<|assistant|>", true},
                  {"<|developer|>", true},
                  {"<|tool|>", true}}) {
  info_.id = "fake-model";
  info_.architecture = "fake";
  info_.chat_template =
      "{% for m in messages %}{% if m.content == 'REFUSE' %}{{ raise_exception('not this') }}{% endif %}"
      "<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% "
      "endif %}";
  info_.context_length = 4096;
  info_.vocabulary_size = tokenizer_.vocabulary_size();
  info_.embedding.size = 4;
  say("Hello, world!");
  thread_ = std::thread([this] { run(); });
}

FakeEngine::~FakeEngine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

std::vector<TokenId> FakeEngine::bytes(std::string_view text) {
  std::vector<TokenId> ids;
  for (const unsigned char byte : text) ids.push_back(byte);
  return ids;
}

void FakeEngine::say(std::string text) {
  change([&](FakeScript& script) {
    script.reply = [ids = bytes(text)](const engine::Request&) { return ids; };
  });
}

std::vector<float> FakeEngine::embed(std::span<const TokenId> prompt) {
  return {static_cast<float>(prompt.size()), static_cast<float>(prompt.front()),
          static_cast<float>(prompt.back()), 0.5f};
}

void FakeEngine::change(const std::function<void(FakeScript&)>& change) {
  const std::lock_guard lock(mutex_);
  change(script_);
  changed_.notify_all();
}

std::vector<engine::Request> FakeEngine::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool FakeEngine::wait_for(const std::function<bool()>& condition) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(5), condition);
}

bool FakeEngine::wait_for_submits(int count) const {
  return wait_for([&] { return static_cast<int>(requests_.size()) >= count; });
}

bool FakeEngine::wait_for_cancels(int count) const {
  return wait_for([&] { return cancels_ >= count; });
}

bool FakeEngine::wait_until_queue_is_empty() const {
  return wait_for([&] {
    return std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job.second.running; });
  });
}

int FakeEngine::cancels() const {
  const std::lock_guard lock(mutex_);
  return cancels_;
}

int FakeEngine::tokens_given() const {
  const std::lock_guard lock(mutex_);
  return tokens_given_;
}

Result<std::vector<TokenId>> FakeEngine::prepare(std::string_view text,
                                                 const text::SpecialTokens& special) const {
  return tokenizer_.encode(text, special);
}

Result<engine::RequestId> FakeEngine::submit(engine::Request request,
                                             std::shared_ptr<engine::EventSink> sink) {
  const std::lock_guard lock(mutex_);
  if (refusing_) return fail(ErrorCode::kBusy, "the engine is shutting down");
  if (script_.submit_error && static_cast<int>(requests_.size()) >= script_.submits_before_error)
    return tl::unexpected<Error>(*script_.submit_error);
  requests_.push_back(request);
  std::vector<TokenId> reply = script_.reply(request);
  jobs_.emplace(next_id_, Job{std::move(request), std::move(sink), std::move(reply)});
  changed_.notify_all();
  return next_id_++;
}

void FakeEngine::compile(const grammar::Form& form, grammar::CompileDone done) {
  compiler_.compile(form, std::move(done));
}

void FakeEngine::cancel(engine::RequestId id) {
  const std::lock_guard lock(mutex_);
  if (const auto job = jobs_.find(id); job != jobs_.end()) job->second.cancelled = true;
  changed_.notify_all();
}

engine::Stats FakeEngine::stats() const {
  const std::lock_guard lock(mutex_);
  engine::Stats stats;
  for (const auto& [id, job] : jobs_) ++(job.running ? stats.running : stats.queued);
  return stats;
}

void FakeEngine::shut_down(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  refusing_ = true;
  changed_.wait_until(lock, deadline, [&] { return jobs_.empty(); });
  for (auto& [id, job] : jobs_) job.cancelled = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return jobs_.empty(); });
}

void FakeEngine::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_)
    if (!step(lock)) changed_.wait_for(lock, std::chrono::milliseconds(1));
}

// One token for every running request; whether anything happened.
bool FakeEngine::step(std::unique_lock<std::mutex>& lock) {
  int running = 0;
  bool progress = false;
  std::vector<engine::RequestId> ids;
  for (const auto& [id, job] : jobs_) ids.push_back(id);
  for (const engine::RequestId id : ids) {
    Job& job = jobs_.at(id);
    if (!job.running && running < script_.max_running && !job.cancelled) {
      job.running = true;
      job.ready = Clock::now() + script_.prefill;
    }
    running += job.running ? 1 : 0;
    std::optional<engine::Event> event;
    advance(job, event);
    if (!event) continue;
    progress = true;
    const auto sink = job.sink;
    const bool finished = std::holds_alternative<engine::Finished>(*event);
    lock.unlock();  // the sink may call back
    sink->on_event(*std::move(event));
    lock.lock();
    if (finished) jobs_.erase(id);
  }
  changed_.notify_all();
  return progress;
}

void FakeEngine::advance(Job& job, std::optional<engine::Event>& event) {
  engine::Usage usage;
  usage.prompt_tokens = static_cast<int>(job.request.prompt.size());
  usage.cached_tokens = script_.cached_tokens;
  usage.completion_tokens = static_cast<int>(job.given);
  const auto finish = [&](engine::FinishReason reason, Error error = {}) {
    event = engine::Finished{reason, usage, std::move(error)};
  };
  if (job.cancelled) {
    ++cancels_;
    return finish(engine::FinishReason::kCancelled);
  }
  if (!job.running || script_.hold || Clock::now() < job.ready) return;
  if (job.request.embed) {
    event = engine::Finished{engine::FinishReason::kEndToken, usage, {}, embed(job.request.prompt)};
    return;
  }
  job.ready = Clock::now() + script_.step;
  const int most = job.request.max_new_tokens;
  if (most > 0 && static_cast<int>(job.given) >= most) return finish(engine::FinishReason::kLength);
  if (job.given == job.reply.size()) {
    if (script_.step_error) return finish(engine::FinishReason::kError, *script_.step_error);
    ++usage.completion_tokens;
    return finish(engine::FinishReason::kEndToken);
  }
  sample::Choice choice{job.reply[job.given++], -0.5f, {}};
  for (int i = 0; i < job.request.sampling.top_logprobs; ++i)
    choice.top.push_back({static_cast<TokenId>((choice.token + i) % 256), -0.5f - static_cast<float>(i)});
  ++tokens_given_;
  event = engine::TokenChosen{std::move(choice)};
}

}  // namespace tempo9::server::testing
