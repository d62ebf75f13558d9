// The engine as everybody above sees it: prepare, submit, cancel, stats. One thread inside owns inference;
// callers only send values. Threads: every method may be called from any thread. Ownership: submit() takes
// the request and shares the sink until its Finished event.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "engine/pooling.h"
#include "engine/stats.h"
#include "grammar/compiled.h"
#include "sample/sampler.h"
#include "text/tokenizer.h"

namespace tempo9::grammar {
struct Form;
}

namespace tempo9::engine {

using RequestId = uint64_t;

struct Request {
  std::vector<TokenId> prompt;
  sample::SamplingOptions sampling;
  int max_new_tokens = 0;   // 0: as many as the context holds. Larger values are cut to the context
  bool ignore_end = false;  // tokens that end a reply are never chosen (in effect: a bias of -100)
  // Positions in the prompt where a later request is likely to differ (the beginnings of its last messages),
  // or to end. Hints only.
  std::vector<int> boundaries{};
  // The prompt's embedding is wanted, not a reply. All of the prompt is computed, whatever is cached.
  bool embed = false;
  // The form that the reply must have; null: any. Made by Engine::compile().
  std::shared_ptr<const grammar::CompiledGrammar> grammar{};
};

struct Usage {
  int prompt_tokens = 0;
  int cached_tokens = 0;      // part of the prompt that did not have to be computed
  int completion_tokens = 0;  // tokens chosen, the one that ended the reply included
  std::chrono::nanoseconds queued{0}, prompt_time{0}, generation_time{0};
};

enum class FinishReason { kEndToken, kLength, kCancelled, kError };

struct TokenChosen {
  sample::Choice choice;
};
struct Finished {
  FinishReason reason;
  Usage usage;
  Error error{};                   // for kError
  std::vector<float> embedding{};  // for Request::embed, unless it was cancelled or failed
};
using Event = std::variant<TokenChosen, Finished>;

// Receives one request's events in order, the last being Finished (exactly one). Called on the engine's
// thread: must not block or throw. A token that ends generation is reported by Finished alone, never by
// TokenChosen.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(Event event) noexcept = 0;
};

struct ModelInfo {
  std::string id;            // what /v1/models lists: general.name made fit for a URL, or the file's name
  std::string architecture;  // general.architecture
  std::string path;
  std::string chat_template;         // Jinja source; empty if the file has none
  std::string begin_text, end_text;  // texts of the begin- and end-of-text tokens; may be empty
  int context_length = 0;            // tokens a request may use in all: the model's own or --max-context
  int trained_context_length = 0;
  int vocabulary_size = 0;
  uint64_t parameters = 0;
  uint64_t file_bytes = 0;
  std::string quantisation;  // of most weights: "Q4_1"
  // Layers with a state can be resumed only where it was saved: Request::boundaries help.
  bool keeps_state = false;
  EmbeddingInfo embedding;
  // What a request leaves open: the file's own recommendation (general.sampling.*) over our defaults.
  sample::SamplingOptions default_sampling;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual const ModelInfo& info() const = 0;
  virtual const text::Tokenizer& tokenizer() const = 0;

  // Ids of a rendered prompt, with the begin-of-text token the model asks for if the text does not start with
  // it.
  virtual Result<std::vector<TokenId>> prepare(std::string_view text,
                                               const text::SpecialTokens& special) const = 0;
  // What a reply is to look like into what Request::grammar takes: see grammar::Compiler::compile(), whose
  // rules for `done` apply.
  virtual void compile(const grammar::Form& form, grammar::CompileDone done) = 0;
  // kTooLong: the prompt leaves no room in the context (the message carries both numbers); kBusy: the queue
  // is full; kInvalidArgument names the field.
  virtual Result<RequestId> submit(Request request, std::shared_ptr<EventSink> sink) = 0;
  // At any time, any number of times, also for finished or unknown ids. Takes effect within one step.
  virtual void cancel(RequestId id) = 0;
  virtual Stats stats() const = 0;
  // Refuses new requests (kBusy), lets running and queued ones finish until `deadline`, then cancels the
  // rest. Returns when all is quiet.
  virtual void shut_down(std::chrono::steady_clock::time_point deadline) = 0;
};

struct EngineOptions {
  std::string model_path;
  std::string device = "cpu";  // a name that backend::create_device() takes
  int threads = 0;             // 0: one per core
  std::string kv_type = "f16";
  int max_context = 0;           // 0: the model's own
  uint64_t kv_memory_bytes = 0;  // 0: a share of what is free
  int step_tokens = 512;         // rows of one step at most
  // Between two tokens of a running reply while prompts are read beside it. 0: a multiple of what it is
  // without them.
  std::chrono::milliseconds max_token_gap{0};
  bool timed = false;      // backend::DeviceOptions::timed
  std::string trace_path;  // where to write what happened when; empty: nowhere
  // For tests: each row of logits before a token is chosen from it, with the position that the token will
  // have. On the engine's thread.
  std::function<void(RequestId, int position, std::span<const float>)> observe_logits;
};

// Called while loading with 0..1; on the loading thread.
using Progress = std::function<void(double)>;
Result<std::unique_ptr<Engine>> load_engine(const EngineOptions& options, const Progress& progress);

}  // namespace tempo9::engine
