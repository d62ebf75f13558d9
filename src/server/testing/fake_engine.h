// An engine for tests: replies what it is told, a token per step, on a thread of its own as the real one
// does.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "engine/engine.h"
#include "engine/testing/byte_tokenizer.h"
#include "grammar/compiler.h"

namespace tempo9::server::testing {

// What the engine does; may be changed between requests.
struct FakeScript {
  std::function<std::vector<TokenId>(const engine::Request&)> reply;
  std::chrono::milliseconds prefill{0}, step{0};
  int max_running = 1 << 20;          // further requests queue
  int cached_tokens = 0;              // reported for every request
  std::optional<Error> submit_error;  // instead of accepting
  int submits_before_error = 0;       // accepted before that
  std::optional<Error> step_error;    // ends every request after the reply's tokens
  bool hold = false;                  // no step is taken until it is false again
};

class FakeEngine final : public engine::Engine {
 public:
  FakeEngine();
  ~FakeEngine() override;

  // Each byte of `text` a token.
  static std::vector<TokenId> bytes(std::string_view text);
  void say(std::string text);
  // What stands for a prompt's embedding: its length, its ends and a half.
  static std::vector<float> embed(std::span<const TokenId> prompt);
  void change(const std::function<void(FakeScript&)>& change);
  engine::ModelInfo& model() { return info_; }  // before a server uses the engine

  std::vector<engine::Request> requests() const;  // in the order submitted
  // Waits until `count` requests have been submitted / have ended by cancel.
  bool wait_for_submits(int count) const;
  bool wait_for_cancels(int count) const;
  bool wait_until_queue_is_empty() const;
  int cancels() const;
  int tokens_given() const;

  const engine::ModelInfo& info() const override { return info_; }
  const text::Tokenizer& tokenizer() const override { return tokenizer_; }
  Result<std::vector<TokenId>> prepare(std::string_view text,
                                       const text::SpecialTokens& special) const override;
  Result<engine::RequestId> submit(engine::Request request, std::shared_ptr<engine::EventSink> sink) override;
  void compile(const grammar::Form& form, grammar::CompileDone done) override;
  void cancel(engine::RequestId id) override;
  engine::Stats stats() const override;
  void shut_down(std::chrono::steady_clock::time_point deadline) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    engine::Request request;
    std::shared_ptr<engine::EventSink> sink;
    std::vector<TokenId> reply;
    size_t given = 0;
    bool running = false, cancelled = false;
    Clock::time_point ready{};
  };
  void run();
  bool step(std::unique_lock<std::mutex>& lock);
  void advance(Job& job, std::optional<engine::Event>& event);
  bool wait_for(const std::function<bool()>& condition) const;

  engine::ModelInfo info_;
  engine::testing::ByteTokenizer tokenizer_;
  grammar::Compiler compiler_{tokenizer_};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  FakeScript script_;
  std::map<engine::RequestId, Job> jobs_;
  std::vector<engine::Request> requests_;
  engine::RequestId next_id_ = 1;
  int cancels_ = 0, tokens_given_ = 0;
  bool refusing_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace tempo9::server::testing
