#include "engine/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace tempo9::engine {

Result<std::unique_ptr<Evaluator>> Evaluator::load(const EngineOptions& options, int logit_rows,
                                                   const Progress& progress) {
  TRY_ASSIGN(LoadedModel model,
             load_model_parts(options, std::min(logit_rows, options.step_tokens), progress));
  return std::unique_ptr<Evaluator>(new Evaluator(std::move(model)));
}

Evaluator::Evaluator(LoadedModel model)
    : model_(std::move(model)), sequence_(model_.runner->kv().empty_sequence()) {}
Evaluator::~Evaluator() {
  model_.runner->kv().release(sequence_);
}

Result<std::span<float>> Evaluator::step(std::span<const TokenId> tokens, int position, Logits wanted) {
  ModelRunner& runner = *model_.runner;
  TRY(runner.kv().grow(sequence_, position + static_cast<int>(tokens.size())));
  StepPlan plan;
  plan.add({tokens, position, &sequence_, wanted});
  auto result = runner.run(plan);
  runner.kv().trim(sequence_, position + static_cast<int>(tokens.size()));
  return result;
}

// A new sequence of ids that fit and exist.
Status Evaluator::begin(std::span<const TokenId> ids) {
  const int n = static_cast<int>(ids.size());
  if (n > model_.info.context_length)
    return fail(ErrorCode::kTooLong, "{} tokens do not fit into a context of {}", n,
                model_.info.context_length);
  for (const TokenId id : ids)
    if (id < 0 || id >= model_.runner->vocabulary_size())
      return fail(ErrorCode::kInvalidArgument, "{} is not a token id", id);
  model_.runner->kv().release(sequence_);
  return {};
}

void Evaluator::report(std::span<const float> rows, int position, const Visit& visit) const {
  const auto vocabulary = static_cast<size_t>(model_.runner->vocabulary_size());
  for (; !rows.empty(); rows = rows.subspan(vocabulary)) visit(position++, rows.first(vocabulary));
}

Status Evaluator::logits(std::span<const TokenId> ids, int first, const Visit& visit) {
  TRY(begin(ids));
  const RunnerOptions& bounds = model_.runner->options();
  const int n = static_cast<int>(ids.size());
  for (int at = 0; at < n;) {
    const bool wanted = at >= first;
    const int rows =
        wanted ? std::min(n - at, bounds.max_logit_rows) : std::min(std::min(n, first) - at, bounds.max_rows);
    const auto tokens = ids.subspan(static_cast<size_t>(at), static_cast<size_t>(rows));
    TRY_ASSIGN(const std::span<float> result, step(tokens, at, wanted ? Logits::kAll : Logits::kNone));
    report(result, at, visit);
    at += rows;
  }
  return {};
}

Result<std::vector<TokenId>> Evaluator::continue_greedily(std::span<const TokenId> prompt, int most) {
  const int n = static_cast<int>(prompt.size());
  most = std::min(most, model_.info.context_length - n);
  TokenId next = 0;
  const Visit choose = [&](int, std::span<const float> row) {
    next = static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin());
  };
  TRY(logits(prompt, n - 1, choose));
  std::vector<TokenId> reply;
  while (static_cast<int>(reply.size()) < most && !tokenizer().ends_generation(next)) {
    reply.push_back(next);
    const int position = n + static_cast<int>(reply.size()) - 1;
    TRY_ASSIGN(const std::span<float> row, step({&reply.back(), 1}, position, Logits::kLast));
    choose(position, row);
  }
  return reply;
}

Status Evaluator::draft_logits(std::span<const TokenId> ids, const Visit& visit) {
  TRY(begin(ids));
  const int n = static_cast<int>(ids.size()) - 1;
  for (int at = 0; at < n;) {
    const int rows = std::min(n - at, model_.runner->options().max_logit_rows);
    TRY(step(ids.subspan(static_cast<size_t>(at), static_cast<size_t>(rows)), at, Logits::kAll));
    TRY_ASSIGN(const std::span<float> drafted,
               model_.runner->draft(ids.subspan(static_cast<size_t>(at) + 1, static_cast<size_t>(rows))));
    report(drafted, at, visit);
    at += rows;
  }
  return {};
}

Result<std::vector<TokenId>> Evaluator::begin_timing(int tokens, int depth) {
  std::vector<TokenId> ids;
  for (int i = 0; i < depth + tokens; ++i)
    ids.push_back(static_cast<TokenId>((i * 7919) % model_.info.vocabulary_size));
  TRY(logits(std::span(ids).first(static_cast<size_t>(depth)), depth, {}));
  return ids;
}

template <class Work>
Result<Timing> Evaluator::time(Work work) {
  const backend::Device& device = model_.runner->device();
  const backend::WorkCounters before = device.counters();
  const auto start = std::chrono::steady_clock::now();
  TRY(work());
  Timing timing{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  const backend::WorkCounters after = device.counters();
  for (size_t i = 0; i < before.nanoseconds.size(); ++i)
    if (const uint64_t taken = after.nanoseconds[i] - before.nanoseconds[i]; taken > 0)
      timing.operations.emplace_back(backend::op_name(static_cast<backend::OpKind>(i)),
                                     static_cast<double>(taken) * 1e-9);
  return timing;
}

Result<Timing> Evaluator::time_prompt(int tokens, int depth) {
  TRY_ASSIGN(const auto ids, begin_timing(tokens, depth));
  return time([&]() -> Status {
    for (int at = depth; at < depth + tokens;) {
      const int rows = std::min(depth + tokens - at, model_.runner->options().max_rows);
      const bool last = at + rows == depth + tokens;
      TRY(step(std::span(ids).subspan(static_cast<size_t>(at), static_cast<size_t>(rows)), at,
               last ? Logits::kLast : Logits::kNone));
      at += rows;
    }
    return {};
  });
}

// One row of each sequence, all with the same token.
Result<std::span<float>> Evaluator::step_together(std::span<kv::Sequence> sequences,
                                                  std::span<const TokenId> tokens, int position) {
  StepPlan plan;
  for (kv::Sequence& sequence : sequences) {
    TRY(model_.runner->kv().grow(sequence, position + 1));
    plan.add({tokens, position, &sequence, Logits::kLast});
  }
  return model_.runner->run(plan);
}

Result<Timing> Evaluator::time_generation(int tokens, int depth, int streams) {
  std::vector<kv::Sequence> sequences;
  const auto measure = [&]() -> Result<Timing> {
    std::vector<TokenId> ids;
    for (int i = 0; i < streams; ++i) {
      TRY_ASSIGN(ids, begin_timing(tokens, depth));
      sequences.push_back(std::exchange(sequence_, model_.runner->kv().empty_sequence()));
    }
    return time([&]() -> Status {
      for (int at = depth; at < depth + tokens; ++at)
        TRY(step_together(sequences, std::span(ids).subspan(static_cast<size_t>(at), 1), at));
      return {};
    });
  };
  Result<Timing> timing = measure();
  for (kv::Sequence& sequence : sequences) model_.runner->kv().release(sequence);
  return timing;
}

double log_probability(std::span<const float> logits, TokenId token) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (const float x : logits) total += std::exp(static_cast<double>(x - largest));
  return static_cast<double>(logits[static_cast<size_t>(token)] - largest) - std::log(total);
}

Result<Perplexity> perplexity(Evaluator& evaluator, std::string_view text, int context,
                              const PerplexityReport& report) {
  if (context < 4)
    return fail(ErrorCode::kInvalidArgument, "a context of {} is too short for a perplexity", context);
  const text::Tokenizer& tokenizer = evaluator.tokenizer();
  std::vector<TokenId> ids = encode_prompt(tokenizer, text, {text::SpecialTokens::Recognise::kNowhere});
  const int windows = static_cast<int>(ids.size()) / context;
  if (windows == 0)
    return fail(ErrorCode::kInvalidArgument, "the text has {} tokens, fewer than one window of {}",
                ids.size(), context);
  double sum = 0;
  Perplexity result;
  for (int w = 0; w < windows; ++w) {
    const std::span<TokenId> window(ids.data() + static_cast<size_t>(w) * static_cast<size_t>(context),
                                    static_cast<size_t>(context));
    if (tokenizer.adds_begin_of_text() && tokenizer.begin_of_text()) window[0] = *tokenizer.begin_of_text();
    TRY(evaluator.logits(window, context / 2, [&](int position, std::span<const float> logits) {
      if (position + 1 == context) return;
      sum -= log_probability(logits, window[static_cast<size_t>(position) + 1]);
      ++result.tokens;
    }));
    result.value = std::exp(sum / result.tokens);
    if (report) report(w + 1, windows, result.value);
  }
  return result;
}

}  // namespace tempo9::engine
