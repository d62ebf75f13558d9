// What a model that was trained can do and one that is computed wrongly cannot: foresee English, and find
// again in a long prompt what stood at its beginning. Wrong weights, a wrong rotary base or operations in a
// wrong order leave logits finite and text fluent; these figures they change. Threads: as the Evaluator's.
#pragma once
#include <string>
#include <string_view>

#include "engine/evaluate.h"

namespace tempo9::engine {

// A page of plain English that belongs to the program, so that no model has been trained on it.
std::string_view prose();
// Sentences about journeys, one a line, the same ones everywhere: what stands between a passage and its
// return.
std::string journeys(int sentences);
inline constexpr int kTokensOfJourney = 6;  // at least, in any vocabulary

// The page; tokens from `first` on count, since what a text is about no model can know.
struct ProseText {
  std::vector<TokenId> ids;
  size_t first = 0;
};
ProseText make_prose_text(const text::Tokenizer& tokenizer);

// The page's beginning, journeys, and the beginning again, in `tokens` tokens. Those of [first_begin,
// first_end) count, and those from `again` on, a few later than the passage comes again: a model must first
// see that it does.
struct RecallText {
  std::vector<TokenId> ids;
  size_t first_begin = 0, first_end = 0, again = 0;
};
inline constexpr int kLeastRecallTokens = 512;
Result<RecallText> make_recall_text(const text::Tokenizer& tokenizer, int tokens);

// Mean surprises, in nats per token.
Result<double> measure_prose(Evaluator& evaluator);
struct Recall {
  double first_time = 0;
  double again = 0;  // a model that finds the passage again is hardly surprised
  int tokens = 0;    // of the prompt
  double share() const { return again / first_time; }
};
Result<Recall> measure_recall(Evaluator& evaluator, int tokens);

}  // namespace tempo9::engine
