#include "sample/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/limits.h"
#include "sample/random.h"

namespace tempo9::sample {
namespace {

Status require(bool condition, const char* field, const char* range) {
  if (condition) return {};
  return fail(ErrorCode::kInvalidArgument, "{} must be {}", field, range);
}

bool within(float value, float lowest, float highest) {
  return value >= lowest && value <= highest;
}

TokenId first_with(std::span<const float> logits, float logit) {
  const auto place = std::find(logits.begin(), logits.end(), logit);
  return place == logits.end() ? 0 : static_cast<TokenId>(place - logits.begin());
}

float log_probability(float logit, float largest, double log_sum) {
  if (!(logit > kBanned)) return kBanned;
  if (logit == largest) return static_cast<float>(-log_sum);
  return static_cast<float>(logit - static_cast<double>(largest) - log_sum);
}

constexpr size_t kWordBits = 32;

bool is_allowed(TokenMask allowed, TokenId token) {
  const auto id = static_cast<size_t>(token);
  return (allowed[id / kWordBits] >> id % kWordBits & 1) != 0;
}

TokenId first_allowed(TokenMask allowed) {
  TokenId first = 0;
  for (const uint32_t word : allowed) {
    if (word != 0) return first + std::countr_zero(word);
    first += static_cast<TokenId>(kWordBits);
  }
  return 0;
}

void forbid(std::span<float> logits, TokenMask allowed) {
  for (size_t word = 0; word < allowed.size(); ++word) {
    const size_t begin = word * kWordBits;
    for (uint32_t left = ~allowed[word]; left != 0; left &= left - 1) {
      const size_t token = begin + static_cast<size_t>(std::countr_zero(left));
      if (token < logits.size()) logits[token] = kBanned;
    }
  }
}

}  // namespace

Status check(const SamplingOptions& options, int vocabulary_size) {
  constexpr float kGreatest = std::numeric_limits<float>::max();
  constexpr float kMaxPenalty = 2, kMaxBias = 100;
  TRY(require(within(options.temperature, 0, kGreatest), "temperature", "a number of at least 0"));
  TRY(require(options.top_k >= 0, "top_k", "at least 0"));
  TRY(require(options.top_p > 0 && options.top_p <= 1, "top_p", "above 0 and at most 1"));
  TRY(require(within(options.min_p, 0, 1), "min_p", "from 0 to 1"));
  TRY(require(options.repetition_penalty > 0 && options.repetition_penalty <= kGreatest, "repetition_penalty",
              "a number above 0"));
  TRY(require(within(options.presence_penalty, -kMaxPenalty, kMaxPenalty), "presence_penalty",
              "from -2 to 2"));
  TRY(require(within(options.frequency_penalty, -kMaxPenalty, kMaxPenalty), "frequency_penalty",
              "from -2 to 2"));
  for (const auto& [token, bias] : options.logit_bias) {
    if (token < 0 || token >= vocabulary_size)
      return fail(ErrorCode::kInvalidArgument, "logit_bias names token {}, but the vocabulary has {} tokens",
                  token, vocabulary_size);
    TRY(require(within(bias, -kMaxBias, kMaxBias), "logit_bias", "from -100 to 100 for each token"));
  }
  if (options.top_logprobs < -1 || options.top_logprobs > limits::kMaxTopLogprobs)
    return fail(ErrorCode::kInvalidArgument, "top_logprobs must be from 0 to {}", limits::kMaxTopLogprobs);
  return {};
}

Sampler::Sampler(SamplingOptions options, std::span<const TokenId> prompt)
    : options_(std::move(options)),
      penalises_(options_.repetition_penalty != 1 || options_.presence_penalty != 0 ||
                 options_.frequency_penalty != 0) {
  if (options_.repetition_penalty == 1) return;
  std::vector<TokenId> ids(prompt.begin(), prompt.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  seen_.reserve(ids.size());
  for (const TokenId id : ids) seen_.push_back({id, 0});
}

void Sampler::accept(TokenId token) {
  if (!penalises_) return;
  const auto place = std::lower_bound(seen_.begin(), seen_.end(), token,
                                      [](const SeenToken& seen, TokenId id) { return seen.id < id; });
  if (place != seen_.end() && place->id == token)
    ++place->reply_count;
  else
    seen_.insert(place, {token, 1});
}

Choice Sampler::choose(std::span<float> logits, uint64_t position, TokenMask allowed) {
  CHECK(!logits.empty());
  CHECK(allowed.empty() || allowed.size() * kWordBits >= logits.size());
  const bool reports = options_.top_logprobs >= 0;
  Choice choice{0, 0, {}};
  float largest = kBanned;
  double log_sum = 0;
  if (reports) {
    largest = largest_logit(logits);
    log_sum = std::log(row_sums_.compute(logits, RelativeProbability(largest, 1)));
    rank_top(logits, choice);
    for (TokenLogprob& entry : choice.top) entry.logprob = log_probability(entry.logprob, largest, log_sum);
  }
  forbid(logits, allowed);
  adjust(logits);
  choice.token = pick(logits, position);
  if (!allowed.empty() && !is_allowed(allowed, choice.token)) choice.token = first_allowed(allowed);
  if (reports) {
    const auto changed = std::find_if(originals_.begin(), originals_.end(),
                                      [&](const Original& o) { return o.id == choice.token; });
    const float logit = changed != originals_.end() ? changed->logit : logits[choice.token];
    choice.logprob = log_probability(logit, largest, log_sum);
  }
  return choice;
}

// Leaves logits in the place of log-probabilities.
void Sampler::rank_top(std::span<const float> logits, Choice& choice) {
  if (options_.top_logprobs == 0) return;
  select_largest(logits, static_cast<size_t>(options_.top_logprobs), candidates_);
  std::sort(candidates_.begin(), candidates_.end(), precedes);
  choice.top.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) choice.top.push_back({candidate.id, candidate.logit});
}

void Sampler::adjust(std::span<float> logits) {
  originals_.clear();
  const auto is_token = [&](TokenId id) { return id >= 0 && static_cast<size_t>(id) < logits.size(); };
  const auto change = [&](TokenId id, float logit) {
    if (options_.top_logprobs >= 0) originals_.push_back({id, logits[id]});
    logits[id] = logit;
  };
  for (const auto& [id, bias] : options_.logit_bias)
    if (is_token(id)) change(id, logits[id] + bias);
  for (const SeenToken& seen : seen_) {
    if (!is_token(seen.id)) continue;  // a place in the prompt that no token stands for
    float logit = logits[seen.id];
    logit = logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
    if (seen.reply_count > 0) {
      logit -= options_.presence_penalty;
      logit -= options_.frequency_penalty * static_cast<float>(seen.reply_count);
    }
    change(seen.id, logit);
  }
}

TokenId Sampler::pick(std::span<const float> logits, uint64_t position) {
  const float largest = largest_logit(logits);
  if (largest == kBanned) return 0;
  if (options_.temperature == 0) return first_with(logits, largest);
  const RelativeProbability probability(largest, options_.temperature);
  const double draw = uniform_at(options_.seed, position);
  if (options_.top_k > 0 || options_.top_p < 1 || options_.min_p > 0)
    return pick_filtered(logits, probability, draw);
  const double sum = row_sums_.compute(logits, probability);
  return row_sums_.token_at(logits, probability, draw * sum);
}

TokenId Sampler::pick_filtered(std::span<const float> logits, const RelativeProbability& probability,
                               double draw) {
  if (options_.top_k > 0) {
    select_largest(logits, static_cast<size_t>(options_.top_k), candidates_);
    weigh_candidates(probability);
    if (options_.top_p < 1) keep_nucleus(candidates_, weights_, options_.top_p * sum_of(weights_));
  } else if (options_.top_p < 1) {
    const double sum = row_sums_.compute(logits, probability);
    gather_nucleus(logits, probability, sum);
    keep_nucleus(candidates_, weights_, options_.top_p * sum);
  } else {
    select_from(logits, probability.lowest_logit(options_.min_p), candidates_);
    weigh_candidates(probability);
  }
  if (options_.min_p > 0) keep_at_least(candidates_, weights_, options_.min_p);
  return candidates_[index_at(weights_, draw * sum_of(weights_))].id;
}

// Gathers a set that contains the nucleus with room to spare: all tokens above a bar, which is lowered until
// they weigh enough. At the last bar they do: tokens less probable than (1 - p) / row size amount to less
// than 1 - p together.
void Sampler::gather_nucleus(std::span<const float> logits, const RelativeProbability& probability,
                             double sum) {
  constexpr double kStep = 1.0 / 32;
  constexpr double kRoom = 1e-9;  // far above the rounding of sums, so that it cannot decide a choice
  const double last_bar = (1.0 - options_.top_p) * sum / static_cast<double>(logits.size());
  double bar = 1;
  do {
    bar = std::max(bar * kStep, last_bar);
    select_from(logits, probability.lowest_logit(bar), candidates_);
    weigh_candidates(probability);
  } while (bar > last_bar && sum_of(weights_) < options_.top_p * sum * (1 + kRoom));
}

void Sampler::weigh_candidates(const RelativeProbability& probability) {
  weights_.resize(candidates_.size());
  for (size_t i = 0; i < candidates_.size(); ++i) weights_[i] = probability(candidates_[i].logit);
}

}  // namespace tempo9::sample
