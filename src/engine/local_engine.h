// The Engine of this process: one thread owns scheduler, KV and model; others send it commands.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/trace.h"
#include "engine/engine.h"
#include "engine/loader.h"
#include "engine/scheduler.h"
#include "grammar/compiler.h"

namespace tempo9::engine {

class LocalEngine final : public Engine {
 public:
  // Of `options`, what does not concern loading. `trace` may be null.
  LocalEngine(LoadedModel model, const EngineOptions& options, const SchedulerOptions& scheduling,
              std::unique_ptr<Trace> trace);
  ~LocalEngine() override;

  const ModelInfo& info() const override { return model_.info; }
  const text::Tokenizer& tokenizer() const override { return *model_.tokenizer; }
  Result<std::vector<TokenId>> prepare(std::string_view text,
                                       const text::SpecialTokens& special) const override;
  Result<RequestId> submit(Request request, std::shared_ptr<EventSink> sink) override;
  void compile(const grammar::Form& form, grammar::CompileDone done) override;
  void cancel(RequestId id) override;
  Stats stats() const override;
  void shut_down(std::chrono::steady_clock::time_point deadline) override;

 private:
  Status check(const Request& request) const;
  void work();
  void warm_up();
  bool take_commands();
  void run_step();
  Status compute(const StepPlan& plan);
  Status advance_pass();
  // What does not need the running step's result.
  void work_ahead();
  void find_allowed(const StepPlan& plan);
  void trace_step(std::string_view name, const StepPlan& plan, std::chrono::steady_clock::time_point begin);
  void trace_request(const RequestState& request) const;
  void settle(const StepPlan& plan, std::span<float> logits, std::span<const float> hidden);
  void choose_tokens(const StepPlan& plan, std::span<float> logits);
  void pool(const StepPlan& plan, std::span<const float> hidden);
  void fail_all(const Error& error);
  // Why the request has come to its end with this row, if it has.
  std::optional<FinishReason> choose(RequestState& request, std::span<float> row);
  void finish(std::unique_ptr<RequestState> request, FinishReason reason, Error error = {});
  void publish_stats();

  LoadedModel model_;
  grammar::Compiler compiler_;
  Scheduler scheduler_;
  const decltype(EngineOptions::observe_logits) observe_logits_;
  const std::unique_ptr<Trace> trace_;                     // null: none is written
  std::vector<std::pair<TokenId, float>> never_end_;       // biases for Request::ignore_end
  Stats measured_;                                         // the engine thread's own; published as stats_
  std::vector<std::pair<RequestId, FinishReason>> ended_;  // of the step being settled
  std::chrono::steady_clock::duration pass_time_{};        // of the slices so far

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<std::unique_ptr<RequestState>> submitted_;
  std::vector<RequestId> cancelled_;
  bool draining_ = false, cancel_all_ = false, stopping_ = false, quiet_ = true;
  RequestId next_id_ = 1;
  Stats stats_;

  std::thread thread_;
};

}  // namespace tempo9::engine
