// Questions that any model trained on text can answer, asked as a user would.
#pragma once
#include "base/result.h"
#include "engine/evaluate.h"

namespace tempo9::apps {

struct Answers {
  int right = 0, asked = 0;
  std::string first_wrong;  // question and answer, for people
};

// Four short questions.
Result<Answers> ask_short_questions(engine::Evaluator& evaluator);

// One fact at the beginning of a prompt of about `tokens` tokens, asked for at its end.
Result<Answers> ask_for_early_fact(engine::Evaluator& evaluator, int tokens);

}  // namespace tempo9::apps
