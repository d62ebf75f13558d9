// Logits of given tokens, without a server: for perplexity, for comparisons from outside, and for speed.
// Threads: one at a time.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/loader.h"

namespace tempo9::engine {

// Of some steps.
struct Timing {
  double seconds = 0;
  // The device's seconds in each kind of operation that took any, by its name (backend/ops.h).
  std::vector<std::pair<std::string_view, double>> operations{};
};

class Evaluator {
 public:
  // `logit_rows`: rows of one step whose logits may be asked for; memory grows with it times the vocabulary.
  static Result<std::unique_ptr<Evaluator>> load(const EngineOptions& options, int logit_rows,
                                                 const Progress& progress);
  ~Evaluator();

  const ModelInfo& info() const { return model_.info; }
  const text::Tokenizer& tokenizer() const { return *model_.tokenizer; }
  std::string device_description() const { return model_.runner->device().description(); }
  size_t weight_bytes() const { return model_.runner->weight_bytes(); }
  backend::WorkCounters work() const { return model_.runner->device().counters(); }

  // Computes `ids` as one sequence and calls `visit(i, logits)` for each position i >= first, in order;
  // logits[v] belongs to token v coming after ids[i]. Steps have at most EngineOptions::step_tokens rows.
  using Visit = std::function<void(int position, std::span<const float> logits)>;
  Status logits(std::span<const TokenId> ids, int first, const Visit& visit);
  // The same of the model's draft head (MTP), for each position that has a next token: logits[v] belongs to
  // token v coming after ids[i + 1], judged from the model's state at i and from ids[i + 1]. kUnsupported
  // without such a head.
  Status draft_logits(std::span<const TokenId> ids, const Visit& visit);

  // The most probable continuation, token by token, up to one that ends a reply (which is left out), to
  // `most` tokens or to the end of the context.
  Result<std::vector<TokenId>> continue_greedily(std::span<const TokenId> prompt, int most);

  // One prompt of `tokens` rows whose last logits are wanted, after `depth` tokens that are not counted.
  Result<Timing> time_prompt(int tokens, int depth);
  // `tokens` steps of one row for each of `streams` sequences, each after `depth` tokens of its own that are
  // not counted. At most `logit_rows` streams.
  Result<Timing> time_generation(int tokens, int depth, int streams = 1);

 private:
  explicit Evaluator(LoadedModel model);
  Status begin(std::span<const TokenId> ids);
  Result<std::span<float>> step_together(std::span<kv::Sequence> sequences, std::span<const TokenId> tokens,
                                         int position);
  Result<std::span<float>> step(std::span<const TokenId> tokens, int position, Logits wanted);
  void report(std::span<const float> rows, int position, const Visit& visit) const;
  Result<std::vector<TokenId>> begin_timing(int tokens, int depth);
  template <class Work>
  Result<Timing> time(Work work);
  LoadedModel model_;
  kv::Sequence sequence_;
};

// The logarithm of softmax(logits)[token].
double log_probability(std::span<const float> logits, TokenId token);

// exp of the mean negative log-probability per token of a text, cut into windows of `context` tokens; in each
// window the tokens of the second half count, seen from the whole window before them. A window starts with
// the begin-of-text token if the model asks for one. `report(window, windows, perplexity so far)` is called
// after each window.
struct Perplexity {
  double value = 0;
  int tokens = 0;  // that counted
};
using PerplexityReport = std::function<void(int window, int windows, double so_far)>;
Result<Perplexity> perplexity(Evaluator& evaluator, std::string_view text, int context,
                              const PerplexityReport& report);

}  // namespace tempo9::engine
