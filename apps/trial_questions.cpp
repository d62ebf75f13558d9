#include "trial_questions.h"

#include "engine/trial.h"
#include "question.h"

namespace tempo9::apps {
namespace {

constexpr int kAnswerTokens = 48;

struct Question {
  std::string chat;         // for models with a chat template
  std::string plain;        // to be continued by models without
  std::string_view answer;  // in small letters
};

Result<std::string> answer_of(engine::Evaluator& evaluator, const Question& question) {
  const engine::ModelInfo& info = evaluator.info();
  std::vector<TokenId> prompt;
  if (info.chat_template.empty()) {
    prompt = engine::encode_prompt(evaluator.tokenizer(), question.plain, {});
  } else {
    TRY_ASSIGN(const chat::RenderedPrompt rendered, render_question(info, "", question.chat, false));
    std::vector<text::Range> ranges;
    prompt = engine::encode_prompt(evaluator.tokenizer(), rendered.text, outside_content(rendered, ranges));
  }
  TRY_ASSIGN(const std::vector<TokenId> reply, evaluator.continue_greedily(prompt, kAnswerTokens));
  std::string text;
  for (const TokenId token : reply) text += evaluator.tokenizer().bytes(token, false);
  return text;
}

Status ask(engine::Evaluator& evaluator, const Question& question, Answers& answers) {
  TRY_ASSIGN(const std::string answer, answer_of(evaluator, question));
  std::string small = answer;
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool right = small.find(question.answer) != std::string::npos;
  ++answers.asked;
  answers.right += right ? 1 : 0;
  if (!right && answers.first_wrong.empty())
    answers.first_wrong = fmt::format("'{}' for '{}'", answer.substr(0, 40), question.answer);
  return {};
}

}  // namespace

Result<Answers> ask_short_questions(engine::Evaluator& evaluator) {
  const Question questions[] = {
      {"Repeat: hello world", "hello world, hello world, hello world, hello", "world"},
      {"What is the capital of France?", "The Eiffel Tower stands in the city of", "paris"},
      {"Which animal says meow?", "Dogs say woof. The animal that says meow is the", "cat"},
      {"What is 2 + 2?", "1 + 1 = 2\n1 + 2 = 3\n2 + 2 =", "4"},
  };
  Answers answers;
  for (const Question& question : questions) TRY(ask(evaluator, question, answers));
  return answers;
}

Result<Answers> ask_for_early_fact(engine::Evaluator& evaluator, int tokens) {
  const std::string fact = "The secret code of Paris is 7413.\n";
  constexpr int kTokensAround = 128;  // template, fact, question and answer
  std::string text = fact + engine::journeys(tokens / engine::kTokensOfJourney);
  const text::SpecialTokens none{text::SpecialTokens::Recognise::kNowhere};
  // Whole lines, as many as fit.
  while (static_cast<int>(evaluator.tokenizer().encode(text, none).size()) > tokens - kTokensAround)
    text.erase(text.rfind('\n', text.size() - text.size() / 16 - 2) + 1);
  Answers answers;
  TRY(ask(evaluator,
          {text + "\nWhat is the secret code of Paris?", text + "The secret code of Paris is", "7413"},
          answers));
  return answers;
}

}  // namespace tempo9::apps
