#include "engine/trial.h"

#include <algorithm>
#include <array>

namespace tempo9::engine {
namespace {

// Of the page, these tokens are the passage to be recalled: long enough for a mean, short enough for small
// contexts.
constexpr size_t kPassageTokens = 160;
// At the beginning of a text these do not count: what it is about, a model cannot know.
constexpr int kOpeningTokens = 16;
// Of the passage said again these do not count: a model must first see that it is the same.
constexpr int kCueTokens = 8;

constexpr std::array kNames = {"Anna",  "Ben",   "Clara", "David", "Emma",
                               "Frank", "Grace", "Henry", "Iris",  "Jack"};
constexpr std::array kCities = {"Paris", "Rome", "Berlin", "Madrid", "London", "Vienna", "Oslo", "Prague"};
constexpr std::array kDays = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

std::vector<TokenId> encode(const text::Tokenizer& tokenizer, std::string_view text, size_t most) {
  std::vector<TokenId> ids = tokenizer.encode(text, {text::SpecialTokens::Recognise::kNowhere});
  ids.resize(std::min(ids.size(), most));
  return ids;
}

// Mean of the surprises at ids[begin] to ids[end - 1], each seen from all before it.
Result<double> mean_surprise(Evaluator& evaluator, std::span<const TokenId> ids, size_t begin, size_t end) {
  double sum = 0;
  TRY(evaluator.logits(ids.first(end - 1), static_cast<int>(begin) - 1,
                       [&](int position, std::span<const float> logits) {
                         sum -= log_probability(logits, ids[static_cast<size_t>(position) + 1]);
                       }));
  return sum / static_cast<double>(end - begin);
}

}  // namespace

std::string journeys(int sentences) {
  uint32_t state = 1;
  const auto pick = [&state](const auto& list) {
    state = state * 1664525u + 1013904223u;  // a linear congruential generator; the high bits vary enough
    return list[(state >> 16) % list.size()];
  };
  std::string text;
  for (int i = 0; i < sentences; ++i) {
    const char *who = pick(kNames), *where = pick(kCities), *when = pick(kDays);
    text += fmt::format("{} went to {} on {}.\n", who, where, when);
  }
  return text;
}

ProseText make_prose_text(const text::Tokenizer& tokenizer) {
  return {encode_prompt(tokenizer, prose(), {text::SpecialTokens::Recognise::kNowhere}), kOpeningTokens};
}

Result<RecallText> make_recall_text(const text::Tokenizer& tokenizer, int tokens) {
  if (tokens < kLeastRecallTokens)
    return fail(ErrorCode::kInvalidArgument, "{} tokens are too few for a passage and what follows it",
                tokens);
  RecallText text{.ids = encode_prompt(tokenizer, "", {})};
  const auto append = [&text](const std::vector<TokenId>& more) {
    text.ids.insert(text.ids.end(), more.begin(), more.end());
  };
  const std::vector<TokenId> passage = encode(tokenizer, prose(), kPassageTokens);
  const std::vector<TokenId> gap = encode(tokenizer, "\n\n", 2);
  text.first_begin = text.ids.size() + kOpeningTokens;
  append(passage);
  text.first_end = text.ids.size();
  append(gap);
  append(encode(tokenizer, journeys(tokens / kTokensOfJourney),
                static_cast<size_t>(tokens) - text.ids.size() - gap.size() - passage.size()));
  append(gap);
  text.again = text.ids.size() + kCueTokens;
  append(passage);
  return text;
}

Result<double> measure_prose(Evaluator& evaluator) {
  const ProseText text = make_prose_text(evaluator.tokenizer());
  return mean_surprise(evaluator, text.ids, text.first, text.ids.size());
}

Result<Recall> measure_recall(Evaluator& evaluator, int tokens) {
  TRY_ASSIGN(const RecallText text, make_recall_text(evaluator.tokenizer(), tokens));
  Recall recall{.tokens = static_cast<int>(text.ids.size())};
  TRY_ASSIGN(recall.first_time, mean_surprise(evaluator, text.ids, text.first_begin, text.first_end));
  TRY_ASSIGN(recall.again, mean_surprise(evaluator, text.ids, text.again, text.ids.size()));
  return recall;
}

}  // namespace tempo9::engine
